import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { createTransport } from 'nodemailer'
import { startMailCatcher } from '../../src/embedded/mail-catcher.ts'
import { freePort } from '../../src/embedded/launch.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'

test('writes each mail into a file of its own', async () => {
  const folder = path.join(temporaryFolder(), 'mail')
  const { url, server } = await startMailCatcher(folder, await freePort(33_000))
  atEnd(async () => server.close())
  const transport = createTransport(url)
  for (const to of ['ada@example.com', 'gr/ace@example.com']) {
    await transport.sendMail({ from: 'us@example.com', to, subject: 'Welcome', text: `Hello ${to}` })
  }
  transport.close()
  const files = readdirSync(folder).toSorted()
  expect(files).toEqual([
    expect.stringMatching(/^\d{4}-.*-0001-ada@example\.com\.eml$/),
    expect.stringMatching(/^\d{4}-.*-0002-gr_ace@example\.com\.eml$/),
  ])
  expect(readFileSync(path.join(folder, files[0]!), 'utf8')).toContain('Subject: Welcome')
})
