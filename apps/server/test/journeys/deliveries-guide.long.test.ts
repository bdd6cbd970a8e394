import { expect, it } from 'vitest'
import { runAsPasted, tourOf } from '../documents.js'
import { existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'

const server = useServer()

it('the commands of the guide to deliveries make a failed one, show it and send it again', async () => {
  const tour = await tourOf('docs/guides/deliveries.md')
  // A bot that refuses makes the chat fail, which ends no shell of a person.
  const refused = 'echo refuse | npx botstead chat --bot "Plain bot"'
  expect(tour.split(refused)).toHaveLength(2)
  const written = await runAsPasted(
    `exec 2>&1\n${tour.replace(refused, `! ${refused}`).replaceAll('curl ', 'curl -sS ')}`,
    server(),
  )
  expect(written).toContain('Plain bot: You said: hello\n')
  expect(written).toMatch(/No answer\. .*Refused once, for you to replay\.\n/)
  const [, suggested = ''] = /responses: +(npx botstead deliveries list .*)\n/.exec(written) ?? []
  expect(await runAsPasted(suggested, server())).toMatch(/^delivery_\w+ /)
  expect(written).toMatch(/^1\. \S+Z {2}\d+ ms {2}Status 422: Refused once, for you to replay\.$/m)
  expect(written).toMatch(/^delivery_\w+ is pending again\.$/m)
  expect(written).toMatch(/^\d+ deliver(y is|ies are) pending again\.$/m)
  for (const line of ['Delivered after', 'Deliveries are paused.', 'Deliveries are resumed.']) {
    expect(written).toContain(line)
  }
  expect(written).toContain('"attemptLog":[{')
  for (const part of ['"counts":{', '"receivers":[', '"replay":{', '"logs":[{']) {
    expect(written).toContain(part)
  }
  // An error response of the interface would have a member `code`.
  expect(written).not.toMatch(/"code":\d/)
  const { bots } = await existingClient(server()).listBots({})
  expect(bots.map(({ name }) => name)).toEqual(['Plain bot'])
})
