import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import type {
  Reporter,
  SerializedError,
  TestCase,
  TestModule,
  TestRunEndReason,
  TestSpecification,
  Vitest,
} from 'vitest/node'
import { part } from './part.js'

/** A whole run of the tests: what the next one says about its length. */
interface WholeRun {
  milliseconds: number
  tests: number
}

interface ProgressOptions {
  /** Milliseconds between two lines. */
  everyMs?: number
}

const whereRemembered = `node_modules/.cache/botstead/tests-${part}.json`

/**
 * Says how long the tests take, and how far they are: a line every 15 seconds where the output is no terminal.
 * On a terminal the default reporter shows the same in place, so this one only says the length.
 * Where a report in JSON is written, errors of no test are written beside it, for the summary of the gate.
 */
class Progress implements Reporter {
  readonly #everyMs: number
  #vitest: Vitest | undefined
  #timer: NodeJS.Timeout | undefined
  #startedAt = 0
  #isWhole = false
  #isPrepared = false
  #files = { done: 0, total: 0 }
  #tests = { done: 0, failed: 0 }
  /** Files that failed although none of their tests did: what they import is broken, for example. */
  #brokenFiles = 0

  constructor({ everyMs = 15_000 }: ProgressOptions = {}) {
    this.#everyMs = everyMs
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  async onTestRunStart(specifications: readonly TestSpecification[]): Promise<void> {
    const vitest = this.#vitest
    if (vitest === undefined || specifications.length === 0) return
    this.#startedAt = performance.now()
    this.#files = { done: 0, total: specifications.length }
    this.#tests = { done: 0, failed: 0 }
    this.#brokenFiles = 0
    this.#isPrepared = false
    const all = await vitest.globTestSpecifications()
    this.#isWhole =
      specifications.length === all.length && vitest.config.testNamePattern === undefined
    const files = counted(specifications.length, 'test file')
    if (this.#isWhole) this.#print(`${files}. ${lengthOf(await recall(vitest.config.root))}`)
    else this.#print(`${files} of ${number(all.length)}.`)
    this.#count()
  }

  onTestModuleQueued(): void {
    this.#isPrepared = true
  }

  onTestCaseResult(test: TestCase): void {
    this.#tests.done += 1
    if (test.result().state === 'failed') this.#tests.failed += 1
  }

  onTestModuleEnd(file: TestModule): void {
    this.#files.done += 1
    const isFailed = file.state() === 'failed'
    if (isFailed && file.children.allTests('failed').next().done) this.#brokenFiles += 1
  }

  async onTestRunEnd(
    files: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): Promise<void> {
    clearInterval(this.#timer)
    await this.#writeErrors(files, errors)
    const root = this.#vitest?.config.root
    const isComplete = this.#isWhole && this.#files.done === this.#files.total
    if (root === undefined || !isComplete || reason === 'interrupted') return
    const milliseconds = Math.round(performance.now() - this.#startedAt)
    await remember(root, { milliseconds, tests: this.#tests.done })
  }

  /** A process of tests that dies, or a rejection that nobody handles, fails a run without failing a test. */
  async #writeErrors(
    files: readonly TestModule[],
    errors: readonly SerializedError[],
  ): Promise<void> {
    const report = this.#vitest?.config.outputFile
    if (errors.length === 0 || typeof report !== 'object' || report.json === undefined) return
    const texts = errors.map(describeError)
    const unfinished = files.filter((file) => ['queued', 'pending'].includes(file.state()))
    const names = unfinished.map((file) => file.relativeModuleId)
    if (names.length > 0) texts.push(`Files that did not end: ${names.join(', ')}`)
    await writeFile(`${report.json}.errors`, JSON.stringify(texts))
  }

  #count(): void {
    clearInterval(this.#timer)
    // The condition of the default reporter for showing the same.
    if (process.stdout.isTTY && !process.env.CI) return
    this.#timer = setInterval(() => this.#print(this.#line()), this.#everyMs)
    // The timer does not keep the process of a run that has ended.
    this.#timer.unref()
  }

  #line(): string {
    const passed = duration(performance.now() - this.#startedAt)
    if (!this.#isPrepared) return `${passed}: building what is tested, and starting PostgreSQL`
    const files = `${number(this.#files.done)} of ${counted(this.#files.total, 'test file')}`
    const broken = this.#brokenFiles === 0 ? '' : `, ${counted(this.#brokenFiles, 'broken file')}`
    const tests = counted(this.#tests.done, 'test')
    return `${passed}: ${files} and ${tests} done, ${number(this.#tests.failed)} failed${broken}`
  }

  #print(line: string): void {
    this.#vitest?.logger.log(line)
  }
}

/** Minutes that a whole run takes on two cores, depending on them. */
const minutesOfPart = part === 'usual' ? '5 to 18' : part === 'long' ? '10 to 35' : '15 to 55'

/** Says what is known of the length of all tests. */
function lengthOf(last: WholeRun | undefined): string {
  return last === undefined
    ? `All of them take ${minutesOfPart} minutes on two cores; this machine has ${counted(availableParallelism(), 'core')}.`
    : `The last time, all of them took ${duration(last.milliseconds)} here: ${counted(last.tests, 'test')}.`
}

function describeError({ stack, message, cause }: SerializedError): string {
  const text = stack ?? message
  return cause === undefined ? text : `${text}\nCaused by: ${describeError(cause)}`
}

async function recall(root: string): Promise<WholeRun | undefined> {
  try {
    const { milliseconds, tests } = JSON.parse(await readFile(join(root, whereRemembered), 'utf8'))
    return Number.isFinite(milliseconds) && Number.isInteger(tests)
      ? { milliseconds, tests }
      : undefined
  } catch {
    return undefined
  }
}

/** Keeps what a whole run took. Where that cannot be written, the next run only knows less. */
async function remember(root: string, run: WholeRun): Promise<void> {
  const path = join(root, whereRemembered)
  try {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, JSON.stringify(run))
  } catch {}
}

function counted(count: number, what: string): string {
  return `${number(count)} ${what}${count === 1 ? '' : 's'}`
}

function number(count: number): string {
  return count.toLocaleString('en')
}

function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

// biome-ignore lint/style/noDefaultExport: the test runner loads reporters by their default export.
export default Progress
