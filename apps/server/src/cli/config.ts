import { Command } from 'commander'
import { describeSettings, loadConfig } from '../config.js'

const secretSettings = /SECRET|TOKEN|DATABASE_URL/

/** `botstead config`: the settings in force; with `--help` all settings there are. */
export function configCommand(): Command {
  return new Command('config')
    .description('Check the settings and show those in force.')
    .addHelpText('after', () => `\n${settingsText()}`)
    .action(() => {
      const { config, warnings } = loadConfig(undefined, { envFile: '.env' })
      const shown = JSON.stringify(config, hideSecrets, 2)
      process.stdout.write(`${shown}\n`)
      for (const warning of warnings) process.stderr.write(`Warning: ${warning}\n`)
    })
}

function hideSecrets(name: string, value: unknown): unknown {
  const words = name.replaceAll(/([A-Z])/g, '_$1').toUpperCase()
  return typeof value === 'string' && secretSettings.test(words) ? '(set)' : value
}

/** Every variable with what it accepts, its default and its meaning. */
function settingsText(): string {
  const lines = describeSettings().map(
    ({ name, type, default: fallback, meaning }) =>
      `  ${name}\n      ${meaning}\n      accepts: ${type}\n      default: ${fallback}\n`,
  )
  return `All settings come from the environment or a .env file in the working folder:\n\n${lines.join('\n')}`
}
