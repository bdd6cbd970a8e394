import { setTimeout as sleep } from 'node:timers/promises'
import type { HostingConfig } from '../../config/config.js'
import type { Addresses } from '../../domain/addresses.js'
import { systemTimers } from '../../platform/clock.js'
import { type AddressRulesOptions, networkListsOf } from '../../platform/outgoing/address-rules.js'
import { createResponseMemory } from '../../platform/outgoing/response-memory.js'
import type { Log } from '../../platform/telemetry/log.js'
import type { HostedCode } from '../bots/deployments/index.js'
import type { DeploymentKeys } from '../tenancy/access/index.js'
import { createOutputBudget } from './budget.js'
import { type CodeOutput, issuesPerMinute } from './code-output.js'
import { type CompiledFile, openCompiledCode } from './compiled.js'
import { type Launcher, openLauncher } from './launch.js'
import { type Program, type ProgramDeps, StartError, startProgram } from './program.js'
import { createProgramKeys } from './program-keys.js'

export interface CodeStarterDeps {
  log: Log
  hosting: HostingConfig
  outgoing: AddressRulesOptions
  limits: {
    hostingMemoryBytes: number
    hostingProcessorPercent: number
    hostingRequests: number
    hostingLogLines: number
  }
  /** Identifies the installation. */
  installation: string
  /** Minimum level of what the SDK logs in programs. */
  logLevel: string
  addresses: Pick<Addresses, 'base' | 'local' | 'webhooks'>
  deploymentKeys: DeploymentKeys
  /** Maximum bytes of memory of a program and all that it starts. */
  memoryBytes: number
  output: Pick<CodeOutput, 'listenerOf'>
}

/** Maximum output of all programs that is read in a second: reading takes time of the loop that serves all tenants. */
const outputPerSecond = { bytes: 4_000_000, lines: 1000 }
/** Maximum bytes of the responses of all programs that are read in a second, for the same reason. */
const responsesPerSecond = { bytes: 40_000_000, lines: 10_000 }
/** Maximum bytes of the responses of all programs that are in progress. */
const responseMemoryBytes = 128_000_000
/** Milliseconds from the start of a program until its compiled code is read: by then it contains the first requests. */
const compiledAfterMs = 1000

/** Starts programs, each with a key of its own, on what all of them share. */
export class CodeStarter {
  readonly #deps: CodeStarterDeps
  readonly #keys: ReturnType<typeof createProgramKeys>
  readonly #compiledCode: ReturnType<typeof openCompiledCode>
  readonly #lists: ReturnType<typeof networkListsOf>
  readonly #shared: Omit<ProgramDeps, 'launcher'>
  #launcher: Promise<Launcher> | undefined
  /** Resolves when the server listens: before that, code could not call it. */
  #listening: Promise<void> | undefined
  #onListening = () => {}

  constructor(deps: CodeStarterDeps) {
    const { log, hosting, limits } = deps
    this.#deps = deps
    this.#keys = createProgramKeys(deps.deploymentKeys, log)
    this.#compiledCode = openCompiledCode(hosting.compiledFolder, log)
    this.#lists = networkListsOf(deps.outgoing)
    this.#shared = {
      budget: createOutputBudget(systemTimers, outputPerSecond),
      responses: createOutputBudget(systemTimers, responsesPerSecond),
      memory: createResponseMemory(responseMemoryBytes),
      reports: { linesPerMinute: limits.hostingLogLines, issuesPerMinute },
      startMs: hosting.startMs,
      memoryBytes: deps.memoryBytes,
      requests: limits.hostingRequests,
    }
  }

  /** From now on, programs start once the server listens. */
  holdUntilListening(): void {
    this.#listening = new Promise((resolve) => {
      this.#onListening = resolve
    })
  }

  /** Lets programs start that wait for the server to listen, or for its end. */
  release(): void {
    this.#onListening()
  }

  /** Starts code, and ends its key with it. */
  async start(
    hosted: HostedCode,
    code: string,
    options: { isTrial: boolean; signal?: AbortSignal },
  ): Promise<Program> {
    await this.#listening
    const key = await this.#keys.create(hosted, options)
    try {
      const program = await this.#startWithKey(hosted, code, key.value, options.signal)
      void program.ended.then(key.end)
      return program
    } catch (error) {
      key.end()
      throw error
    }
  }

  /** Resolves when the keys of ended programs are gone. */
  async settled(): Promise<void> {
    await this.#keys.settled()
  }

  async close(): Promise<void> {
    await (await this.#launcher?.catch(() => undefined))?.close()
  }

  async #startWithKey(
    hosted: HostedCode,
    code: string,
    token: string,
    signal: AbortSignal | undefined,
  ): Promise<Program> {
    const { hosting, addresses } = this.#deps
    const api = hosting.mode === 'wrapped' ? addresses.base() : addresses.local()
    const bytes = Buffer.from(code)
    const file = await this.#compiledCode.of(hosted.owner, bytes)
    const compiled = await file.find()
    const program = await startProgram(
      { ...this.#shared, launcher: await this.#requireLauncher() },
      {
        deployment: hosted,
        code: bytes,
        compiled,
        environment: environmentOf(this.#deps, hosted, api, token),
        network: this.#lists && { ...this.#lists, api: hostAndPortOf(api) },
      },
      this.#deps.output.listenerOf(hosted),
      signal,
    ).catch(async (error: unknown) => {
      if (compiled && !signal?.aborted) await file.drop()
      throw error
    })
    void keepCompiled(file, program)
    return program
  }

  async #requireLauncher(): Promise<Launcher> {
    const { log, hosting, limits, memoryBytes, installation } = this.#deps
    this.#launcher ??= openLauncher({
      log,
      hosting,
      limits: {
        heapBytes: limits.hostingMemoryBytes,
        memoryBytes,
        processorPercent: limits.hostingProcessorPercent,
      },
      installation,
    })
    try {
      return await this.#launcher
    } catch (cause) {
      this.#launcher = undefined
      throw new StartError(`this server cannot start programs: ${String(cause)}`, { cause })
    }
  }
}

/** The whole environment of a program. */
function environmentOf(
  { addresses, logLevel }: CodeStarterDeps,
  hosted: HostedCode,
  api: string,
  token: string,
): Record<string, string> {
  return {
    ...Object.fromEntries(
      Object.entries(hosted.secrets).map(([name, value]) => [`SECRET_${name}`, value]),
    ),
    BP_API_URL: api,
    BP_TOKEN: token,
    BP_WEBHOOK_URL: addresses.webhooks(),
    BP_LOG_FORMAT: 'json',
    LOG_LEVEL: logLevel,
  }
}

/** Stores the compiled code of a program after its first requests. Never rejects. */
async function keepCompiled(file: CompiledFile, program: Program): Promise<void> {
  await Promise.race([sleep(compiledAfterMs, undefined, { ref: false }), program.ended])
  const compiled = await program.compiled()
  if (compiled) await file.keep(compiled)
}

function hostAndPortOf(address: string): { host: string; port: number } {
  const { hostname, port, protocol } = new URL(address)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
}
