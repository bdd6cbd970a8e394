import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { runAsPasted, tourOf } from '../documents.js'
import { existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'

const server = useServer()

/** The folder of a package as the command line of the platform brings it along. */
function packageOf(name: string): string {
  const cli = createRequire(import.meta.url).resolve('@botpress/cli/bin.js')
  return dirname(dirname(createRequire(cli).resolve(`@botpress/${name}`)))
}

/** The effect of `npm install` in a new project, without the registry. */
const install = [
  'mkdir -p node_modules/@botpress',
  ...['sdk', 'client'].map((name) => `ln -s '${packageOf(name)}' node_modules/@botpress/${name}`),
].join(' && ')

it('the commands of the guide for developers lead to two bots that answer', async () => {
  const tour = await tourOf('docs/guides/developing.md')
  expect(tour.split('npm install')).toHaveLength(2)
  const settings = [
    'exec 2>&1',
    // The command of the platform keeps its login there.
    'export HOME="$PWD/home" && mkdir home',
    // It asks the registry for its newest version, and ignores that this fails.
    'export npm_config_registry=file:/// FORCE_COLOR=0',
  ]
  const written = await runAsPasted(
    `${settings.join('\n')}\n${tour.replace('npm install', install)}`,
    server(),
  )
  for (const line of ['Logged In', 'initialized', 'Bot deployed']) expect(written).toContain(line)
  expect(written).toContain('You said: Good morning')
  expect(written).toContain('Received message')
  expect(written).toMatch(/Deployed bundled-bot\.cjs \(\d+ kB\) to Bundled bot/)
  expect(written).toContain('Hello, you said: Good morning')
  expect(written).toContain('Bundled bot was deployed at ')
  expect(written).toContain('Welcome, you said: Good evening')
  const { bots } = await existingClient(server()).listBots({})
  expect(bots.map(({ name }) => name).sort()).toEqual(['Bundled bot', 'Echo bot'])
})
