import { ConfigError, loadConfig } from '../config/config.js'
import {
  type CheckResult,
  diagnose as diagnoseInstallation,
  diagnoseSettings,
} from '../features/operations/doctor/index.js'
import { migrations } from '../migrations/index.js'
import { neededNode, version } from '../version.js'

/** The result of all checks. */
export interface Diagnosis {
  version: string
  /** The worst of the results. */
  status: CheckResult['status']
  checks: CheckResult[]
}

/**
 * Checks the installation that the settings name, whether or not its server runs.
 * @param envFile as of `loadConfig`
 */
export async function diagnose(envFile: string): Promise<Diagnosis> {
  const checks = await checkAll(envFile)
  const has = (status: CheckResult['status']) => checks.some((each) => each.status === status)
  return { version, status: has('failed') ? 'failed' : has('warning') ? 'warning' : 'ok', checks }
}

async function checkAll(envFile: string): Promise<CheckResult[]> {
  const versions = { own: version, node: process.versions.node, neededNode }
  try {
    const loaded = loadConfig(undefined, { envFile })
    return await diagnoseInstallation({ ...loaded, envFile, migrations, versions })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return diagnoseSettings(error.problems, versions)
  }
}
