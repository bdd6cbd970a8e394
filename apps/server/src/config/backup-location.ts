import { type BackupLocation, conflictOf, parseBackupLocation } from './backup-settings.js'
import { type Config, ConfigError, readEnvFile, s3EnvironmentOf } from './config.js'

/**
 * The location of backups that a command was given. Credentials that its address leaves out come from the environment.
 * @param options.envFile as of `loadConfig`
 * @param options.isTarget whether backups are to be stored there
 * @throws ConfigError
 */
export function readBackupLocation(
  given: string,
  config: Config,
  { envFile, isTarget }: { envFile: string; isTarget: boolean },
): BackupLocation {
  // biome-ignore lint/style/noProcessEnv: as of the other settings
  const environment = { ...readEnvFile(envFile), ...process.env }
  const location = parseBackupLocation(
    given,
    s3EnvironmentOf(environment),
    'the location of backups',
  )
  // The text is a sentence that begins with `the location of backups`.
  if (typeof location === 'string') throw new ConfigError([`T${location.slice(1)}`])
  const conflict = isTarget ? conflictOf(location, config) : undefined
  if (conflict !== undefined) throw new ConfigError([`The location of backups ${conflict}.`])
  return location
}
