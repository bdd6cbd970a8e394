type Expected = keyof typeof wanted

/** What may stand at a place of a JSON text, in words. */
const wanted = {
  value: 'a value',
  'value or ]': 'a value or ]',
  name: 'a name in double quotes',
  'name or }': 'a name in double quotes or }',
  colon: 'a colon',
  ', or ]': 'a comma or ]',
  ', or }': 'a comma or }',
  end: 'the end',
} as const

const blank = /[ \t\n\r]*/y
/** A part of a text: one pattern for all of it would try each way to divide one that has no end. */
const part = /[^"\\\p{Cc}]+|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/uy
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)/y

/**
 * Where a text stops being JSON, for a person: the line and column, from 1, what stands there and what
 * must stand there. Undefined if it is JSON.
 */
export function jsonFaultOf(json: string): string | undefined {
  const open: ('{' | '[')[] = []
  let expected: Expected = 'value'
  let at = 0
  const take = (token: RegExp): boolean => {
    token.lastIndex = at
    if (!token.test(json)) return false
    at = token.lastIndex
    return true
  }
  const takeText = (): boolean => {
    const start = at
    if (json[at] !== '"') return false
    at += 1
    let goesOn = true
    while (goesOn) goesOn = take(part)
    const isWhole = json[at] === '"'
    at = isWhole ? at + 1 : start
    return isWhole
  }
  const afterValue = (): Expected => {
    const inside = open.at(-1)
    if (inside === undefined) return 'end'
    return inside === '{' ? ', or }' : ', or ]'
  }
  for (;;) {
    take(blank)
    const next: string | undefined = json[at]
    if (next === undefined) {
      return expected === 'end' ? undefined : `it ends where ${wanted[expected]} must stand`
    }
    const closes = next === '}' ? '{' : '['
    if ((next === '}' || next === ']') && expected.endsWith(next)) {
      at += 1
      if (open.pop() !== closes) return tell(json, at - 1, expected)
      expected = afterValue()
    } else if (expected.startsWith('value') && (next === '{' || next === '[')) {
      at += 1
      open.push(next)
      expected = next === '{' ? 'name or }' : 'value or ]'
    } else if (expected.startsWith('value') && (take(scalar) || takeText())) expected = afterValue()
    else if (expected.startsWith('name') && takeText()) expected = 'colon'
    else if (expected === 'colon' && next === ':') {
      at += 1
      expected = 'value'
    } else if (expected.startsWith(',') && next === ',') {
      at += 1
      expected = open.at(-1) === '{' ? 'name' : 'value'
    } else return tell(json, at, expected)
  }
}

function tell(json: string, at: number, expected: Expected): string {
  const line = json.slice(0, at).split('\n')
  const found = String.fromCodePoint(json.codePointAt(at) ?? 0)
  const place = `line ${line.length}, column ${(line.at(-1)?.length ?? 0) + 1}`
  return expected.startsWith('value') || expected.startsWith('name')
    ? `${place}: ${wanted[expected]} must stand where ${JSON.stringify(found)} begins`
    : `${place}: ${wanted[expected]} must stand where ${JSON.stringify(found)} stands`
}
