export interface Panel {
  type: 'timeseries' | 'stat'
  title: string
  datasource: { type: string; uid: string }
  gridPos: { x: number; y: number; w: number; h: number }
  fieldConfig: { defaults: { unit?: string } }
  targets: { expr: string; legendFormat: string }[]
}

/** As much of a dashboard's file as is looked at. */
export interface Dashboard {
  uid: string
  title: string
  templating: { list: { name: string; type: string; query: string }[] }
  panels: Panel[]
}

export const FOLDER = 'docs/deploy/grafana'
