import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { checkout } from '../documents.js'
import { describeEachEngine } from '../engines.js'
import { useServer } from '../harness.js'

const folder = join(checkout, 'deploy/monitoring')
const promtool = (words: string[], input = '') =>
  spawnSync('promtool', words, { cwd: folder, input, encoding: 'utf8' })
/** Part of the Debian package `prometheus`. */
const hasPromtool = promtool(['--version']).status === 0

/** Metrics that another program has, and one that is there with scheduled backups only. */
const elsewhere = new Set(['up', 'botstead_backup_last_success_timestamp_seconds'])

/** Names of metrics in an expression: what stands before a selector or a range, and no function. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/"[^"]*"/g, '""')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\b(by|on|without)\s*\([^)]*\)/g, '')
  return [...bare.matchAll(/\b([a-z]\w*_\w+|up)\b(?!\s*\()/g)]
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('__'))
}

interface Dashboard {
  panels: { id: number; title: string; targets: { expr: string }[] }[]
}

const readDashboard = async (): Promise<Dashboard> =>
  JSON.parse(await readFile(join(folder, 'grafana-dashboard.json'), 'utf8'))

async function ruleExpressions(): Promise<string[]> {
  const text = await readFile(join(folder, 'alerts.yaml'), 'utf8')
  const found = [...text.matchAll(/^ +expr: (?:>-\n((?: {10}.+\n)+)|(.+)\n)/gm)]
  return found.map(([, folded, plain]) => folded ?? plain ?? '')
}

describeEachEngine('the files for monitoring', (engine) => {
  const server = useServer(engine)
  /** The metrics with the delay of the event loop, which is there from the second time on. */
  const scrape = () =>
    vi.waitFor(async () => {
      const text = await (await server().fetch('/metrics')).text()
      expect(text).toContain('botstead_event_loop_delay_seconds{')
      return text
    })

  it('use metrics that the server has', async () => {
    const text = await scrape()
    const known = new Set(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    )
    const panels = (await readDashboard()).panels
    const rules = await ruleExpressions()
    expect(rules.length).toBeGreaterThan(10)
    const expressions = [...rules, ...panels.flatMap(({ targets }) => targets.map((t) => t.expr))]
    const used = new Set(expressions.flatMap(metricsIn))
    expect(used.size).toBeGreaterThan(20)
    const unknown = [...used].filter((name) => !known.has(name) && !elsewhere.has(name))
    expect(unknown).toEqual([])
    // Nor do they ask for labels of an earlier version.
    expect(text).toContain('botstead_event_loop_delay_seconds{percentile="99"}')
    expect(text).toContain('botstead_ready{part="database"} 1\n')
  })

  it.skipIf(!hasPromtool)('are about metrics that promtool accepts', async () => {
    const { status, stdout, stderr } = promtool(['check', 'metrics'], await scrape())
    expect(stdout + stderr).toBe('')
    expect(status).toBe(0)
  })
})

describe('the alert rules', () => {
  it.skipIf(!hasPromtool)('are accepted by promtool, and fire when they should', () => {
    const checked = promtool(['check', 'rules', 'alerts.yaml'])
    expect(checked.stderr).toBe('')
    expect(checked.status).toBe(0)
    const tested = promtool(['test', 'rules', 'alerts.test.yaml'])
    expect(tested.stderr + tested.stdout).toContain('SUCCESS')
    expect(tested.status).toBe(0)
  })

  it('each say what to do', async () => {
    const text = await readFile(join(folder, 'alerts.yaml'), 'utf8')
    const count = (pattern: RegExp) => [...text.matchAll(pattern)].length
    expect(count(/^ +action: ./gm)).toBe(count(/^ +- alert: /gm))
  })
})

describe('the dashboard', () => {
  it('has panels with ids of their own', async () => {
    const { panels } = await readDashboard()
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    expect(panels.every(({ title, targets }) => title !== '' && targets.length > 0)).toBe(true)
  })
})
