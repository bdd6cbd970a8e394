import { expect, it } from 'vitest'
import { type IssueReport, toStored } from './grouping.js'

const report: IssueReport = {
  code: 'unhandled_error',
  category: 'user_code',
  title: 'Error: no order 17',
  description: 'Error: no order 17\n    at find (/bundle.cjs:3:120)\n    at node:internal/x:1:2',
  data: {},
  groupBy: [],
}
const groupOf = (change: Partial<IssueReport>) => toStored({ ...report, ...change }).fingerprint

it('reports that differ in numbers and ids only are about one problem', () => {
  for (const title of ['Error: no order 4', 'Error:  no order 12345']) {
    expect(groupOf({ title })).toBe(groupOf({}))
  }
  const about = (id: string) => groupOf({ title: `Error: conversation ${id} is closed` })
  expect(about('conv_01K9ZQ3T5V7W9X1Y3Z5A7B9C1D')).toBe(about('conv_01K9ZQ3T5V7W9X1Y3Z5A7B9C1E'))
  expect(about('6f1c1f5e-0000-4000-8000-000000000000')).toBe(
    about('0a51c7d0-5f0e-4c35-8f77-6b0d5b1a9f10'),
  )
})

it('reports with another kind, title or place are about others', () => {
  const others = [
    { code: 'code_stopped' },
    { title: 'Error: no invoice 17' },
    { description: report.description.replace('find', 'load') },
  ]
  expect(new Set([report, ...others].map(groupOf)).size).toBe(4)
})

it('the first function that is not of Node is the place', () => {
  const at = '    at node:internal/modules:1:2\n    at pay (/bundle.cjs:1:9)'
  const { groupedData } = toStored({ ...report, description: `Error: x\n${at}` })
  expect(groupedData).toEqual({ place: { raw: 'at pay (/bundle.cjs:<n>:<n>)' } })
})

it('values that the code names distinguish problems, and nothing else then', () => {
  const data = { shop: { raw: '4', pretty: 'Shop 4' }, amount: { raw: '10' } }
  const grouped = { ...report, data, groupBy: ['shop', 'absent'] }
  expect(toStored(grouped)).toMatchObject({
    groupedData: { shop: { raw: '4', pretty: 'Shop 4' } },
    data,
  })
  expect(groupOf({ ...grouped, title: 'Another' })).toBe(groupOf(grouped))
  const other = { ...data, shop: { raw: '5' } }
  expect(groupOf({ ...grouped, data: other })).not.toBe(groupOf(grouped))
})

it('what is stored is bounded, whatever is reported', () => {
  const long = '\0"é'.repeat(100_000)
  const data = Object.fromEntries(
    ['a', 'b', 'c'].map((name) => [name, { raw: long, pretty: long }]),
  )
  const stored = toStored({
    code: long,
    category: long,
    title: long,
    description: long,
    data,
    groupBy: ['a'],
  })
  expect(Buffer.byteLength(JSON.stringify(stored.data))).toBeLessThanOrEqual(131_072)
  expect(Buffer.byteLength(JSON.stringify(stored.groupedData))).toBeLessThanOrEqual(16_384)
  expect(stored.data.a?.raw.length).toBeGreaterThan(10_000)
  expect(stored.title).toHaveLength(200)
  expect(stored.category).toBe('other')
  expect(JSON.stringify(stored)).not.toContain('\\u0000')
})

it('a value that nearly fills the bound leaves no room for the next one', () => {
  const filledTo = (bytes: number) => ({
    a: { raw: 'x'.repeat(bytes - 100) },
    b: { raw: 'y'.repeat(100_000) },
  })
  const { data } = toStored({ ...report, data: filledTo(131_072) })
  expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThanOrEqual(131_072)
  const { groupedData } = toStored({ ...report, data: filledTo(16_384), groupBy: ['a', 'b'] })
  expect(Buffer.byteLength(JSON.stringify(groupedData))).toBeLessThanOrEqual(16_384)
})
