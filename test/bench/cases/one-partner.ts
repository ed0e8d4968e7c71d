import { setEndpoint } from '../../../src/endpoints/switch-endpoint.ts'
import { sealing } from '../../../src/seal.ts'
import { addPartner } from '../../../src/partners/partner.ts'
import { putEndpoints } from '../../support/endpoint-states.ts'
import type { Bench } from '../load/load.ts'
import type { Row } from '../rows.ts'
import { allAtOnce } from './milestones.ts'
import { startSides } from './milestone-sides.ts'

const LEADS = 150
const PARTNERS = 10
const ROUNDS = 5

/** All milestones of one partner, whose endpoint's row and cap of ten they share, against those of ten partners. */
export async function onePartner({ servers }: Bench): Promise<Row[]> {
  const sides = await startSides(servers)
  const { service, deployment, url } = sides
  const { sql, orm, encryptionKeys, secret } = deployment
  const ofOne = await service.begin(LEADS)
  const ofTen = await service.begin(LEADS / PARTNERS)
  for (let count = 1; count < PARTNERS; count += 1) {
    const { id } = await addPartner(orm.em.fork(), { name: `Lender ${count}` })
    await setEndpoint(sql, id, { url, secret: sealing(secret, encryptionKeys) })
    await putEndpoints(sql, 'active', { partnerId: id })
    ofTen.push(...(await service.begin(LEADS / PARTNERS, id)))
  }
  const rates = { floor: [] as number[], service: [] as number[] }
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.floor.push(await allAtOnce(service, ofTen))
    rates.service.push(await allAtOnce(service, ofOne))
  }
  await sides.close()
  return [
    {
      work: 'milestones of one partner flat out',
      unit: '/s',
      ...rates,
      aim: { ratioFrom: 0.8 },
      note: `floor: those of ${PARTNERS} partners`,
    },
  ]
}
