import { type BackupPlace, conflictOf, parseBackupPlace } from './backup-settings.js'
import { type Config, ConfigError, readEnvFile, s3EnvironmentOf } from './config.js'

/**
 * The place of backups that a command was given. Credentials that its address leaves out come from the environment.
 * @param options.envFile as of `loadConfig`
 * @param options.isTarget whether backups are to be stored there
 * @throws ConfigError
 */
export function readBackupPlace(
  given: string,
  config: Config,
  { envFile, isTarget }: { envFile: string; isTarget: boolean },
): BackupPlace {
  // biome-ignore lint/style/noProcessEnv: as of the other settings
  const environment = { ...readEnvFile(envFile), ...process.env }
  const place = parseBackupPlace(given, s3EnvironmentOf(environment), 'the place of backups')
  // A sentence that begins with `the place`.
  if (typeof place === 'string') throw new ConfigError([`T${place.slice(1)}`])
  const conflict = isTarget ? conflictOf(place, config) : undefined
  if (conflict !== undefined) throw new ConfigError([`The place of backups ${conflict}.`])
  return place
}
