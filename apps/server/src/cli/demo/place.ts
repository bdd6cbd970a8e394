import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** In the home of the user and for them alone: in a folder for everybody, others could put a file of theirs. */
function placeFile(): string {
  // biome-ignore lint/style/noProcessEnv: where users keep the state of all their programs, not a setting
  const state = process.env.XDG_STATE_HOME || join(homedir(), '.local/state')
  return join(state, 'botstead/demo')
}

/** Records where the data of a demonstration is, for commands of the same user; the newest one counts. */
export async function recordDemo(dataDir: string): Promise<void> {
  const path = placeFile()
  const temporary = `${path}.${process.pid}`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(temporary, dataDir, { mode: 0o600 })
  await rename(temporary, path)
}

/** Forgets this demonstration; another one that was started since stays. */
export async function forgetDemo(dataDir: string): Promise<void> {
  if ((await readDemoFolder()) === dataDir) await rm(placeFile(), { force: true })
}

/** The data folder of the newest demonstration of this user, which may have been killed; only they may read it. */
export async function readDemoFolder(): Promise<string | undefined> {
  try {
    return await readFile(placeFile(), 'utf8')
  } catch {
    return undefined
  }
}
