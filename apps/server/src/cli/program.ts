import { ApiError } from '@botstead/contract'
import { messageForPeople } from '@botstead/contract/error-text'
import { Command, CommanderError } from 'commander'
import { ConfigError } from '../config/config.js'
import { nearest } from '../platform/nearest.js'
import { version } from '../version.js'
import { accountCommand } from './account.js'
import { backupCommand, restoreCommand } from './backup.js'
import { botsCommand } from './bots.js'
import { chatCommand } from './chat/command.js'
import { checkCommand } from './check.js'
import { configCommand } from './config.js'
import { dashboardCommand } from './dashboard.js'
import { deliveriesCommand } from './deliveries.js'
import { demoCommand } from './demo/command.js'
import { deployCommand } from './deploy.js'
import { doctorCommand } from './doctor.js'
import { envCommand } from './env.js'
import { evalCommand } from './eval/command.js'
import { fileProblem } from './file-problems.js'
import { filesCommand } from './files/command.js'
import { healthcheckCommand } from './healthcheck.js'
import { logsCommand } from './logs.js'
import { reindexCommand } from './reindex.js'
import { searchCommand } from './search.js'
import { startCommand } from './start.js'
import { notices, out } from './terminal.js'
import { tokenCommand } from './token.js'

const hints = `
"botstead start" starts the server. In an empty folder, the first start makes a token and shows it.
Settings come from the environment; "botstead config --help" lists them.`

/** The `botstead` command. Returns the exit status: 0, or 1 when the command failed. */
export async function run(argv: readonly string[]): Promise<number> {
  const program = new Command('botstead')
    .description('A self-hosted server for bots: files, search, conversations and chat.')
    .version(version, '-v, --version', 'show the version')
    .addHelpText('after', hints)
    .exitOverride()
    .showHelpAfterError()
    .addCommand(startCommand())
    .addCommand(demoCommand())
    .addCommand(configCommand())
    .addCommand(tokenCommand())
    .addCommand(dashboardCommand())
    .addCommand(accountCommand())
    .addCommand(envCommand())
    .addCommand(botsCommand())
    .addCommand(deployCommand())
    .addCommand(logsCommand())
    .addCommand(evalCommand())
    .addCommand(filesCommand())
    .addCommand(searchCommand())
    .addCommand(deliveriesCommand())
    .addCommand(chatCommand())
    .addCommand(reindexCommand())
    .addCommand(doctorCommand())
    .addCommand(healthcheckCommand())
    .addCommand(checkCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
  for (const command of program.commands) command.exitOverride()
  printThroughDoor(program)
  try {
    if (argv.length <= 2) {
      program.outputHelp()
      return 0
    }
    requireKnown(program, argv[2])
    await program.parseAsync(argv)
    return Number(process.exitCode ?? 0)
  } catch (error) {
    return report(error)
  }
}

/** Sends the output of the parser through the door: an argument that it refuses may have been pasted, or come from a script. */
function printThroughDoor(command: Command): void {
  command.configureOutput({
    writeOut: out.text,
    writeErr: notices.text,
    outputError: (text) => printError(text.trimEnd()),
  })
  for (const part of command.commands) printThroughDoor(part)
}

/** Suggests the command that a misspelt one is like. */
function requireKnown(program: Command, word: string | undefined): void {
  const names = [...program.commands.map((command) => command.name()), 'help']
  if (word === undefined || word.startsWith('-') || names.includes(word)) return
  const guess = nearest(word, names)
  throw new Error(
    `There is no command "${word}"${guess ? `: did you mean "${guess}"?` : '.'} Run "npx botstead --help" for all.`,
  )
}

/** Prints an error for people: what to do, without a stack. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode
  if (error instanceof ConfigError) {
    for (const problem of error.problems) notices.line(problem)
    notices.line('Run "npx botstead config --help" for all settings.')
    return 1
  }
  printError(error instanceof Error ? adviceOn(error) : String(error))
  // biome-ignore lint/style/noProcessEnv: a switch for debugging
  if (process.env.DEBUG && error instanceof Error) notices.text(`${error.stack}\n`)
  return 1
}

/** An error may name what others have named: a line of theirs must not pass for one of the command. */
function printError(text: string): void {
  const [first = '', ...more] = text.split('\n')
  notices.line(first)
  for (const line of more) notices.line(line.startsWith(' ') ? line : `  ${line}`)
}

function adviceOn(error: Error): string {
  if (error instanceof ApiError) return messageForPeople(error.message)
  if (!('syscall' in error && error.syscall === 'listen' && 'code' in error)) {
    return fileProblem(error) ?? error.message
  }
  const port = 'port' in error ? `Port ${error.port}` : 'The port'
  const address = 'address' in error ? String(error.address) : 'The address'
  switch (error.code) {
    case 'EADDRINUSE':
      return `${port} is in use by another program: stop that one, or set PORT to another port.`
    case 'EACCES':
      return `${port} may not be used by this user: set PORT to one above 1023, with a proxy in front.`
    case 'EADDRNOTAVAIL':
      return `${address} is no address of this machine: set HOST to one that is, or to 0.0.0.0 for all.`
    default:
      return error.message
  }
}
