import { describe, expect, test } from 'vitest'
import { blocksOf, readFile } from '../outline.js'

async function read(table: string): Promise<string[]> {
  return await blocksOf('a.html', `<!doctype html><main>${table}</main>`)
}

const head = '<tr><th>Day</th><th>Dish</th></tr>'

describe('what a browser shows apart stays apart in a cell', () => {
  test.each([
    ['paragraphs', '<p>3</p><p>1</p>', '3 1'],
    ['divisions', '<div>3</div><div>1</div>', '3 1'],
    ['a break', '3<br>1', '3 1'],
    ['a rule', '3<hr>1', '3 1'],
    ['a list', '<ul><li>3</li><li>1</li></ul>', '3 1'],
    ['definitions', '<dl><dt>3</dt><dd>1</dd></dl>', '3 1'],
    ['a table', '<table><tr><td>3</td><td>1</td></tr><tr><td>2</td></tr></table>', '3 1 2'],
    ['buttons', '<button>3</button><button>1</button>', '3 1'],
    ['labels', '<label>3</label><label>1</label>', '3 1'],
    [
      'blocks by style',
      '<span style="display:block">3</span><span style="display: block">1</span>',
      '3 1',
    ],
    ['elements of the page', '<x-price>3</x-price><x-price>1</x-price>', '3 1'],
    ['headings', '<h3>3</h3>1', '3 1'],
    ['a picture', '3<img src="a.png" alt="or">1', '3![or](a.png)1'],
    ['code', '<pre>a\nb</pre><pre>c</pre>', 'a b c'],
    ['a field', '3<input>1', '3 1'],
    ['blocks in a format', '<b><p>3</p><p>1</p></b>', '**3 1**'],
    ['inline elements, which are one word', '3<b>1</b><span>2</span>', '3**1**2'],
    [
      'a place for a break, which is none',
      'Donau<wbr>dampf\u200bschiff&shy;fahrt',
      'Donaudampfschifffahrt',
    ],
  ])('%s', async (_, cell, text) => {
    const [table] = await read(`<table>${head}<tr><td>x</td><td>${cell}</td></tr></table>`)
    expect(table).toBe(`| Day | Dish |\n| --- | --- |\n| x | ${text} |`)
  })

  test('in headings as well', async () => {
    expect(await read('<h2><div>Part 1</div><div>Pumps<br>and hoses</div></h2>')).toEqual([
      '## Part 1 Pumps and hoses',
    ])
  })
})

describe('a table', () => {
  test.each([
    [
      'with headings in its head stays a table',
      '<table><thead><tr><th></th><th><h3>Basic</h3></th><th><h3>Pro</h3></th></tr></thead><tr><th>Price</th><td>10</td><td>30</td></tr></table>',
      '|  | Basic | Pro |\n| --- | --- | --- |\n| Price | 10 | 30 |',
    ],
    [
      'with a table in a cell stays a table',
      `<table>${head}<tr><td>Monday</td><td><table><tr><td>Soup</td><td>Bread</td></tr></table></td></tr></table>`,
      '| Day | Dish |\n| --- | --- |\n| Monday | Soup Bread |',
    ],
    [
      'has a merged cell in every row',
      '<table><tr><th>Region</th><th>City</th></tr><tr><td rowspan="2">North</td><td>Kiel</td></tr><tr><td>Bremen</td></tr></table>',
      '| Region | City |\n| --- | --- |\n| North | Kiel |\n| North | Bremen |',
    ],
    [
      'has a merged cell in every column',
      '<table><tr><th colspan="2">Size</th><th>Price</th></tr><tr><td>S</td><td colspan="2">on request</td></tr></table>',
      '| Size | Size | Price |\n| --- | --- | --- |\n| S | on request | on request |',
    ],
    [
      'has a cell that is merged both ways in all of them',
      '<table><tr><th>A</th><th>B</th><th>C</th></tr><tr><td colspan="2" rowspan="2">x</td><td>1</td></tr><tr><td>2</td></tr></table>',
      '| A | B | C |\n| --- | --- | --- |\n| x | x | 1 |\n| x | x | 2 |',
    ],
    [
      'has a cell that is merged to the end of its section',
      '<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td rowspan="0">x</td><td>1</td></tr><tr><td>2</td></tr></tbody><tbody><tr><td>y</td><td>3</td></tr></tbody></table>',
      '| A | B |\n| --- | --- |\n| x | 1 |\n| x | 2 |\n| y | 3 |',
    ],
    [
      'has its foot at its end',
      '<table><thead><tr><th>A</th><th>B</th></tr></thead><tfoot><tr><td>Sum</td><td>3</td></tr></tfoot><tbody><tr><td>x</td><td>3</td></tr></tbody></table>',
      '| A | B |\n| --- | --- |\n| x | 3 |\n| Sum | 3 |',
    ],
    [
      'of names beside values has no head',
      '<table><tr><th>Born</th><td>1950</td></tr><tr><th>Died</th><td>2010</td></tr></table>',
      '|  |  |\n| --- | --- |\n| Born | 1950 |\n| Died | 2010 |',
    ],
  ])('%s', async (_, table, text) => {
    expect(await read(table)).toEqual([text])
  })

  test('writes a long merged text once', async () => {
    const note = 'word '.repeat(30).trim()
    const [table] = await read(`<table>${head}<tr><td colspan="2">${note}</td></tr></table>`)
    expect(table?.split(note)).toHaveLength(2)
  })

  test.each([
    ['columns', '<td colspan="1000000000">x</td>'],
    ['rows', '<td rowspan="1000000000">x</td>'],
    ['both', '<td rowspan="65534" colspan="1000">x</td>'],
    ['nothing', '<td rowspan="-1" colspan="abc">x</td>'],
  ])('with cells merged over too many %s is bounded', async (_, cell) => {
    const rows = `<tr>${cell}<td>1</td></tr>`.repeat(200)
    const { root } = await readFile('a.html', `<main><table>${head}${rows}</table></main>`)
    expect(JSON.stringify(root).length).toBeLessThan(2_000_000)
    expect(JSON.stringify(root)).toContain('"1"')
  })
})

describe('code with numbers of lines keeps its shape', () => {
  const code = ['```\nport = 80\n  host = any\n```']
  test.each([
    [
      'in columns',
      '<table><tr><td><pre>1\n2</pre></td><td><pre><code>port = 80\n  host = any</code></pre></td></tr></table>',
    ],
    [
      'in rows',
      '<table><tr><td class="blob-num" data-line-number="1"></td><td class="blob-code">port = 80</td></tr><tr><td class="blob-num" data-line-number="2"></td><td class="blob-code">  host = any</td></tr></table>',
    ],
    [
      'in a table in preformatted text',
      '<pre><code><table><tr><td class="hljs-ln-numbers">1</td><td>port = 80</td></tr><tr><td class="hljs-ln-numbers">2</td><td>  host = any</td></tr></table></code></pre>',
    ],
    [
      'in spans',
      '<pre><span class="lineno"> 1 </span>port = 80\n<span class="lineno"> 2 </span>  host = any\n</pre>',
    ],
    [
      'in lines that are blocks',
      '<pre><code><span class="line">port = 80</span><span class="line">  host = any</span></code></pre>',
    ],
    ['in a list', '<pre><ol class="linenums"><li>port = 80</li><li>  host = any</li></ol></pre>'],
  ])('%s', async (_, html) => {
    expect(await read(html)).toEqual(code)
  })

  test('and a table of numbered codes stays a table', async () => {
    const table =
      '<table><tr><th>Exit</th><th>Why</th></tr><tr><td><code>1</code></td><td><code>EPERM</code></td></tr></table>'
    expect(await read(table)).toEqual(['| Exit | Why |\n| --- | --- |\n| `1` | `EPERM` |'])
  })
})
