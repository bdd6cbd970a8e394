import { expect } from 'vitest'
import { runCommand } from './processes.js'

interface Result {
  check: string
  status: 'ok' | 'warning' | 'failed'
  message: string
  next?: string
}

interface Diagnosis {
  exit: number | null
  status: string
  checks: Result[]
  /** The findings of one check that are not ok. */
  of(check: string): Result[]
}

/** Runs the command. The disk of the machine that runs the tests may be full, which must not matter here. */
export async function diagnose(environment: Record<string, string>): Promise<Diagnosis> {
  const { status: exit, stdout, stderr } = await runCommand(['doctor', '--json'], environment)
  expect(stderr).toBe('')
  const { status, checks } = JSON.parse(stdout) as { status: string; checks: Result[] }
  return {
    exit,
    status,
    checks: checks.filter(({ check }) => check !== 'disk'),
    of: (name) => checks.filter(({ check, status }) => check === name && status !== 'ok'),
  }
}

export const failure = (text: string | RegExp) => ({
  status: 'failed',
  message: expect.stringMatching(text),
})
export const warning = (text: string | RegExp) => ({
  status: 'warning',
  message: expect.stringMatching(text),
})
