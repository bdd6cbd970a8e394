import { describe, expect, test } from 'vitest'
import { extract } from '../../src/read-document.js'
import { blocksOf, readFile } from '../outline.js'

const picture = 'iVBORw0KGgoAAAANSUhEUgAA'.repeat(1000)

function notebook(...cells: object[]): string {
  const metadata = { kernelspec: { language: 'Python' } }
  return JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 })
}

function code(source: string | string[], ...outputs: object[]): object {
  return { cell_type: 'code', execution_count: 1, metadata: {}, source, outputs }
}

describe('a notebook', () => {
  test('has its cells in order, each as what it is', async () => {
    const content = notebook(
      { cell_type: 'markdown', source: ['# Flow\n', '\n', 'It is *low*.'] },
      code(['rate = 2\n', '\n', 'rate * 21'], {
        output_type: 'execute_result',
        data: { 'text/plain': ['42'] },
      }),
      { cell_type: 'raw', source: 'As it is.' },
    )
    expect(await blocksOf('flow.ipynb', content)).toEqual([
      '# Flow',
      'It is *low*.',
      '```python\nrate = 2\n\nrate * 21\n```',
      '```\n42\n```',
      'As it is.',
    ])
    expect((await readFile('flow.ipynb', content)).title).toBe('Flow')
  })

  test('has what its code printed, failures and tables, without colours', async () => {
    const table =
      '<table><tr><th>Pump</th><th>Flow</th></tr><tr><td>North</td><td>3</td></tr></table>'
    const content = notebook(
      code(
        'run()',
        {
          output_type: 'stream',
          name: 'stdout',
          text: ['\u001b[31mstarted\u001b[0m\n', 'ended\n'],
        },
        { output_type: 'error', ename: 'ValueError', evalue: 'no water', traceback: ['x'] },
        {
          output_type: 'display_data',
          data: { 'text/html': [table], 'text/plain': ['  Pump Flow'] },
        },
        { output_type: 'display_data', data: { 'text/markdown': '**done**', 'text/plain': '<M>' } },
      ),
    )
    expect(await blocksOf('run.ipynb', content)).toEqual([
      '```python\nrun()\n```',
      '```\nstarted\nended\n```',
      '```\nValueError: no water\n```',
      '| Pump | Flow |\n| --- | --- |\n| North | 3 |',
      '**done**',
    ])
  })

  test('tells of pictures, and does not count their data as text', async () => {
    const content = notebook(
      code('plot()', {
        output_type: 'display_data',
        data: { 'image/png': picture, 'text/plain': ['<Figure size 640x480 with 1 Axes>'] },
      }),
    )
    const { root, omissions } = await extract({
      bytes: Buffer.from(content),
      contentType: '',
      key: 'plot.ipynb',
      maxLength: 500,
    })
    expect(root.children).toHaveLength(1)
    expect(omissions).toMatchObject([
      { kind: 'picture_without_text', count: 1, places: [{ part: 'cell 1' }] },
    ])
  })

  test('of an older program is read too', async () => {
    const cells = [
      { cell_type: 'heading', level: 2, source: ['Old'] },
      { cell_type: 'code', input: ['1 + 1'], outputs: [{ output_type: 'pyout', text: ['2'] }] },
    ]
    const content = JSON.stringify({ metadata: {}, nbformat: 3, worksheets: [{ cells }] })
    expect(await blocksOf('old.ipynb', content)).toEqual([
      '## Old',
      '```\n1 + 1\n```',
      '```\n2\n```',
    ])
  })

  test('that is uploaded as JSON is a notebook', async () => {
    const content = notebook({ cell_type: 'markdown', source: 'Hello' })
    const { root } = await extract({
      bytes: Buffer.from(content),
      contentType: 'application/json',
      key: 'a.ipynb',
    })
    expect(root.children).toMatchObject([{ type: 'paragraph' }])
  })

  test.each(['{"cells": ', '{"cells": 1}', '[]', 'null'])(
    'that is %s is damaged',
    async (content) => {
      await expect(readFile('a.ipynb', content)).rejects.toMatchObject({ failure: 'damaged' })
    },
  )

  test('of cells that are none is empty', async () => {
    const content = JSON.stringify({
      cells: [1, null, { cell_type: 'code', outputs: [null, 'x'] }],
    })
    await expect(readFile('a.ipynb', content)).rejects.toMatchObject({ failure: 'empty' })
  })
})
