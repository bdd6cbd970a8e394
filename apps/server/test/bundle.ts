import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import type { Keeper } from './keeper.js'

const dist = fileURLToPath(new URL('../dist/', import.meta.url))
/** Below the server, so that packages outside of the bundle are found. */
const place = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))

/** The command in a few files instead of 1600. */
export interface BundledCommand {
  /** Path of the script to start. */
  path: string
  /** Takes over what was built since. */
  bundle(): Promise<void>
}

/** Own code and the packages with the most modules; the others stay where they are. */
const inside = /^(\.|\/|@botstead\/contract|jose|kysely|typebox|ws$)/

const parts: Plugin = {
  name: 'parts',
  resolveId: (id) => (inside.test(id) ? undefined : { id, external: true }),
  // Workers and files beside a module are still found where the build has them.
  transform: (code, id) =>
    id.startsWith(dist)
      ? code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
      : undefined,
}

/** Bundles the command as built: a start of it loads twice as fast, and tests start it often. */
export async function bundleCommand(keeper: Keeper): Promise<BundledCommand> {
  await mkdir(place, { recursive: true })
  const dir = await keeper.createFolder(place)
  const bundle = async () => {
    const build = await rolldown({
      input: join(dist, 'main.js'),
      platform: 'node',
      logLevel: 'silent',
      plugins: [parts],
    })
    await build.write({ dir, format: 'esm' })
    await build.close()
  }
  await bundle()
  return { path: join(dir, 'main.js'), bundle }
}
