import { Command } from 'commander'
import { describeSettings, loadConfig } from '../config/config.js'
import { notices, out } from './terminal.js'
import { wrapText } from './text.js'

const secretSettings = /SECRET|TOKEN|DATABASE_URL/

/** `botstead config`: shows the effective settings; with `--help` all settings. */
export function configCommand(): Command {
  return new Command('config')
    .description('Check the settings and show those in force.')
    .addHelpText('after', () => `\n${settingsText()}`)
    .action(() => {
      const { config, warnings } = loadConfig(undefined, { envFile: '.env' })
      out.json(JSON.parse(JSON.stringify(config, hideSecrets)), 2)
      for (const warning of warnings) notices.line(`Warning: ${warning}`)
    })
}

function hideSecrets(name: string, value: unknown): unknown {
  const words = name.replaceAll(/([A-Z])/g, '_$1').toUpperCase()
  return typeof value === 'string' && secretSettings.test(words) ? '(set)' : value
}

const nameWidth = 34
const widest = 100

/** Every variable with its meaning, its default and what it accepts. */
function settingsText(): string {
  const textWidth = Math.min(out.columns ?? widest, widest) - nameWidth
  const entries = describeSettings().map(({ name, type, default: fallback, meaning }) => {
    const lines = [
      ...wrapText(meaning, textWidth),
      ...wrapText(`Default: ${fallback}`, textWidth),
      ...wrapText(`Accepts: ${type}`, textWidth),
    ]
    return lines
      .map(
        (line, index) =>
          `${index === 0 ? `  ${name} `.padEnd(nameWidth) : ' '.repeat(nameWidth)}${line}`,
      )
      .join('\n')
  })
  return `All settings come from the environment or, below it, from a file .env in the working folder:\n\n${entries.join('\n\n')}\n`
}
