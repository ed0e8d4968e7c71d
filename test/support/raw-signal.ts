import type { Service } from './service.ts'

/** A signal as any client may send it: with a payload that our own would never make. */
export async function rawSignal(
  { client, namespace }: Service,
  leadId: number,
  signalName: string,
  { encoding, data }: { encoding?: string; data: string },
): Promise<void> {
  await client.connection.workflowService.signalWorkflowExecution({
    namespace,
    workflowExecution: { workflowId: `lead-${leadId}` },
    signalName,
    input: {
      payloads: [
        {
          metadata: encoding === undefined ? {} : { encoding: Buffer.from(encoding) },
          data: Buffer.from(data),
        },
      ],
    },
  })
}
