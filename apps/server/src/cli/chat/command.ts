import { Command, InvalidArgumentError } from 'commander'
import { addConnectionOptions } from '../connection.js'
import { notices, out } from '../terminal.js'
import { openSession, type SessionOptions } from './session.js'
import { talk } from './talk.js'

interface ChatOptions extends SessionOptions {
  /** Seconds. */
  timeout: number
}

const help = `
Write a message and press Enter. Where the bot offers options, their number chooses one. /quit or Ctrl+D ends.
Without a terminal every line of the input is a message: each is sent once the one before was answered, and
the status is 1 when an answer was missing.`

/** `botstead chat`: a conversation with a bot, through its chat address. */
export function chatCommand(): Command {
  const command = new Command('chat')
    .description('Talk to a bot in the terminal.')
    .option('--address <chat address>', 'chat address to call; needs no token and no --bot')
    .option('--user-key <key>', 'be this user instead of a new one')
    .option('--conversation <id>', 'go on with this conversation of the user')
    .option('--timeout <seconds>', 'how long to wait for a reply to a line', toSeconds, 10)
    .addHelpText('after', help)
  return addConnectionOptions(command).action(async ({ timeout, ...options }: ChatOptions) => {
    const session = await openSession(options)
    const hasReplied = await talk(session, {
      input: process.stdin,
      output: out,
      notices,
      timeout: timeout * 1000,
    })
    if (!hasReplied) process.exitCode = 1
  })
}

function toSeconds(text: string): number {
  const seconds = Number(text)
  if (seconds > 0 && seconds <= 3600) return seconds
  throw new InvalidArgumentError('It must be a number of seconds, at most 3600.')
}
