import { bytes, duration, integer, oneOf, optional, setting, text } from './setting-kinds.js'

/** Whether and how deployed code runs. */
export const hostingSettings = {
  hosting: optional('BOTSTEAD_HOSTING', oneOf('off', 'trusted', 'wrapped'), {
    default: 'trusted while HOST is a loopback address, else off',
    meaning:
      'Whether deployed code of bots and integrations runs here: off, trusted (as processes of this machine: for workspaces whose administrators you trust with it), or wrapped (in the container or sandbox that BOTSTEAD_HOSTING_COMMAND starts).',
  }),
  hostingCommand: optional('BOTSTEAD_HOSTING_COMMAND', text('a command'), {
    default: 'none; must be set when BOTSTEAD_HOSTING is wrapped',
    meaning:
      'Command that starts each program in a container or sandbox: split at spaces, {folder} stands for the folder of its socket, {id} for a name of its own; the program and its arguments follow.',
  }),
  hostingIdleMs: setting('BOTSTEAD_HOSTING_IDLE', duration('1s', '30d'), {
    default: '5m',
    meaning: 'How long a program that nobody calls keeps running.',
  }),
  hostingStartMs: setting('BOTSTEAD_HOSTING_START_TIMEOUT', duration('1s', '10m'), {
    default: '30s',
    meaning: 'How long a program may take to load.',
  }),
}

/** Limits of deployed code. */
export const hostingLimitSettings = {
  hostingProcesses: setting('BOTSTEAD_HOSTING_PROCESSES', integer(1, 10_000), {
    default: '50',
    meaning: 'Programs of bots and integrations that one process of the server runs at a time.',
  }),
  hostingMemoryBytes: setting('BOTSTEAD_HOSTING_MEMORY_BYTES', bytes('32MiB', '32GiB'), {
    default: '256MiB',
    meaning:
      'Working memory (JavaScript heap) of one program; one that uses three times as much in all is ended.',
  }),
  hostingRequests: setting('BOTSTEAD_HOSTING_REQUESTS', integer(1, 10_000), {
    default: '64',
    meaning: 'Requests that one program handles at a time; ten times as many wait.',
  }),
  hostingLogLines: setting('BOTSTEAD_HOSTING_LOG_LINES', integer(1, 1_000_000), {
    default: '600',
    meaning: 'Lines a minute that one program writes into its log; the others are dropped.',
  }),
}
