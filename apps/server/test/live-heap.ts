import { readFile } from 'node:fs/promises'

/** Bytes by the class of what holds them; all strings together, all closures together. */
export type LiveHeap = ReadonlyMap<string, number>

/** Kinds of values that programs make. What V8 makes of the program itself comes and goes by chance. */
const valueTypes = new Set([
  'array',
  'bigint',
  'closure',
  'concatenated string',
  'native',
  'number',
  'object',
  'regexp',
  'sliced string',
  'string',
  'symbol',
])

interface Snapshot {
  snapshot: { meta: { node_fields: string[]; node_types: [string[], ...unknown[]] } }
  nodes: number[]
  strings: string[]
}

/** Reads what was alive when a heap snapshot was written: values, without compiled code. */
export async function readLiveHeap(file: string): Promise<LiveHeap> {
  const { snapshot, nodes, strings }: Snapshot = JSON.parse(await readFile(file, 'utf8'))
  const fields = snapshot.meta.node_fields
  const [types] = snapshot.meta.node_types
  const [typeAt, nameAt, sizeAt] = ['type', 'name', 'self_size'].map((name) => fields.indexOf(name))
  if (typeAt === undefined || nameAt === undefined || sizeAt === undefined) {
    throw new Error('A heap snapshot has other fields than it had')
  }
  const held = new Map<string, number>()
  for (let start = 0; start < nodes.length; start += fields.length) {
    const type = types[nodes[start + typeAt] ?? 0] ?? ''
    if (!valueTypes.has(type)) continue
    const hasClass = type === 'object' || type === 'native' || type === 'array'
    const of = hasClass ? `${type} ${strings[nodes[start + nameAt] ?? 0]}` : type
    held.set(of, (held.get(of) ?? 0) + (nodes[start + sizeAt] ?? 0))
  }
  return held
}

/** A class that holds more than before. */
export interface Growth {
  of: string
  bytes: number
}

/** The classes that hold more than before, those with the most of it first. */
export function growth(before: LiveHeap, after: LiveHeap): Growth[] {
  return [...after]
    .map(([of, bytes]) => ({ of, bytes: bytes - (before.get(of) ?? 0) }))
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => b.bytes - a.bytes)
}
