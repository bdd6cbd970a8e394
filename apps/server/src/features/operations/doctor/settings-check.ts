import { stat } from 'node:fs/promises'
import { isOwnerOnly } from '../../../platform/disk/files.js'
import { type DoctorDeps, type Finding, failed, ok, warning } from './finding.js'

const help = 'Run "npx botstead config --help" for all settings.'

/** Settings that cannot be used: the server does not start, and nothing else can be checked. */
export function settingsProblems(problems: readonly string[]): Finding[] {
  return problems.map((problem) =>
    failed(problem, `Correct it: the server does not start. ${help}`),
  )
}

/** Unknown settings, and values that are probably unintended or not safe. */
export async function checkSettings(deps: DoctorDeps): Promise<Finding[]> {
  const { config, settings } = deps
  const found = [
    ...deps.warnings.map((text) => warning(text, `It has no effect as it is. ${help}`)),
    ...unsafeValues(deps),
    ...(await readableSecrets(deps)),
  ]
  const given = settings.filter(({ source }) => source !== 'default').length
  return found.length > 0
    ? found
    : [ok(`${given} set, all others at their defaults; data folder ${config.dataDir}`)]
}

/** Whether an address can be reached from this machine only. */
function isLoopback(host: string): boolean {
  return /^(localhost|127\..*|\[?::1\]?)$/.test(host)
}

function unsafeValues({ config, settings }: DoctorDeps): Finding[] {
  const found: Finding[] = []
  const isSet = (name: string) =>
    settings.some((each) => each.name === name && each.source !== 'default')
  const isOpen = !isLoopback(config.host)
  const { protocol, hostname } = new URL(config.publicUrl)
  if (protocol === 'http:' && !isLoopback(hostname)) {
    found.push(
      warning(
        `BOTSTEAD_PUBLIC_URL is ${config.publicUrl}: tokens and messages cross the network unencrypted.`,
        'Put a proxy with TLS in front of the server, and set an address that begins with https.',
      ),
    )
  }
  if (isOpen && !isSet('BOTSTEAD_PUBLIC_URL')) {
    found.push(
      warning(
        `HOST is ${config.host}, but BOTSTEAD_PUBLIC_URL is not set: upload and chat addresses begin with ${config.publicUrl}, which callers elsewhere cannot reach.`,
        'Set BOTSTEAD_PUBLIC_URL to the address at which callers reach the server.',
      ),
    )
  }
  if (isOpen && config.metrics.access === 'public' && config.metrics.token === undefined) {
    found.push(
      warning(
        'BOTSTEAD_METRICS is public: anybody can read /metrics.',
        'Set it to loopback, and BOTSTEAD_METRICS_TOKEN for monitoring from another machine.',
      ),
    )
  }
  if (isOpen && config.hosting.mode === 'trusted') {
    found.push(
      warning(
        `BOTSTEAD_HOSTING is trusted and HOST is ${config.host}: deployed code has all rights of this user.`,
        'Set BOTSTEAD_HOSTING to wrapped or off, unless you trust everybody who may deploy.',
      ),
    )
  }
  if (config.outgoing.allowed === 'any') {
    found.push(
      warning(
        'BOTSTEAD_ALLOWED_NETWORKS is any: whoever configures a bot makes the server call addresses of your network.',
        'List the networks that it may call.',
      ),
    )
  }
  if (config.backup !== undefined && config.backup.passphraseFile === undefined) {
    found.push(
      warning(
        'BOTSTEAD_BACKUP_ENCRYPTION is off: backups contain the secrets of the server.',
        'Set BOTSTEAD_BACKUP_PASSPHRASE_FILE, with a new target.',
      ),
    )
  }
  if (config.databaseUrl !== undefined && config.secret === undefined) {
    found.push(
      warning(
        'BOTSTEAD_SECRET is not set with PostgreSQL: processes on other machines sign with other keys.',
        'Set it to the content of the file "secret" in the data folder, for all processes.',
      ),
    )
  }
  return found
}

/** Files with secrets, named by settings, that others may read. */
async function readableSecrets({ config, settings, envFile }: DoctorDeps): Promise<Finding[]> {
  const files: string[] = []
  const hasSecrets = settings.some(({ isSecret, source }) => isSecret && source === 'file')
  if (hasSecrets) files.push(envFile)
  if (config.backup?.passphraseFile !== undefined) files.push(config.backup.passphraseFile)
  const found = await Promise.all(
    files.map(async (file) => {
      const facts = await stat(file).catch(() => undefined)
      if (facts === undefined) {
        return failed(
          `The file ${file} cannot be read.`,
          'Correct BOTSTEAD_BACKUP_PASSPHRASE_FILE.',
        )
      }
      if (isOwnerOnly(facts)) return []
      return warning(`Others may read ${file}, which has secrets.`, `Run: chmod 600 '${file}'`)
    }),
  )
  return found.flat()
}
