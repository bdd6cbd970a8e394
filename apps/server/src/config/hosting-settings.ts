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
      'Command that starts each program in a container or sandbox: split at spaces. {folder} stands for the folder of its socket, {id} for a name of its own, {node} for the path of Node, {program} for the folder of the host program; the program and its arguments follow.',
  }),
  hostingControlGroup: optional('BOTSTEAD_HOSTING_CGROUP', text('an absolute path', /^\//), {
    default: 'the group of the server, if it is not root and the group was delegated to it',
    meaning:
      'Folder of a control group (cgroup v2) that was delegated to the server: each program gets a group below it, which bounds its memory, processes and processor time.',
  }),
  hostingIdleMs: setting('BOTSTEAD_HOSTING_IDLE', duration('1s', '30d'), {
    default: '5m',
    meaning: 'Idle time after which a program ends.',
  }),
  hostingStartMs: setting('BOTSTEAD_HOSTING_START_TIMEOUT', duration('1s', '10m'), {
    default: '30s',
    meaning: 'Time limit for loading a program.',
  }),
}

/** Limits of deployed code. */
export const hostingLimitSettings = {
  hostingProcesses: setting('BOTSTEAD_HOSTING_PROCESSES', integer(1, 10_000), {
    default: '50',
    meaning:
      'Programs of bots and integrations that one process of the server runs at a time; up to half of them are of bots that are always alive.',
  }),
  hostingMemoryBytes: setting('BOTSTEAD_HOSTING_MEMORY_BYTES', bytes('32MiB', '32GiB'), {
    default: '256MiB',
    meaning:
      'Working memory (JavaScript heap) of one program; one that uses three times as much in all is ended.',
  }),
  hostingProcessorPercent: setting('BOTSTEAD_HOSTING_CPU_PERCENT', integer(1, 10_000), {
    default: '100',
    meaning:
      'Share of a processor that one program may use, 100 for a whole one. In force where the system has control groups (BOTSTEAD_HOSTING_CGROUP).',
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
