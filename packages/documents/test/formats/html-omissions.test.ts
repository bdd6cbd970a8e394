import { expect, test } from 'vitest'
import { readFile } from '../outline.js'

test.each([
  ['a picture without a description', '<img src="a.png">', 'picture_without_text', 'a.png'],
  ['a document in the page', '<object data="b.pdf"></object>', 'embedded_file', 'b.pdf'],
  ['a recording', '<video src="c.mp4">no video</video>', 'embedded_file', 'c.mp4'],
  [
    'another page',
    '<iframe src="https://maps.example/x"></iframe>',
    'embedded_file',
    'https://maps.example/x',
  ],
])('%s is told', async (_, body, kind, part) => {
  const { omissions } = await readFile('a.html', `<main><p>Text</p>${body}</main>`)
  expect(omissions).toEqual([{ kind, count: 1, places: [{ part }] }])
})

test.each([
  ['a described picture', '<img src="a.png" alt="Pump"><img src="b.png" title="Hose">'],
  ['decoration', '<img src="a.png" alt=""><img src="b.png" role="presentation">'],
  ['a sign', '<img src="a.png" width="16" height="16"><svg><path d="M0"/></svg>'],
  ['a picture with a caption', '<figure><img src="a.png"><figcaption>Pump</figcaption></figure>'],
  [
    'a frame for counting visitors',
    '<iframe src="https://count.example" width="1" height="1"></iframe>',
  ],
])('%s is not', async (_, body) => {
  const { omissions } = await readFile('a.html', `<main><p>Text</p>${body}</main>`)
  expect(omissions).toEqual([])
})

test('pictures around the subject of a page are not', async () => {
  const { omissions } = await readFile(
    'a.html',
    '<img src="logo.png"><main><p>A text of some length.</p></main>',
  )
  expect(omissions).toEqual([])
})

test('pictures of Markdown without a description are told', async () => {
  const { omissions } = await readFile(
    'a.md',
    '![](a.png) ![Hose](b.png) ![](c.png "Pump")\n\n<img src="d.png">',
  )
  expect(omissions).toEqual([
    { kind: 'picture_without_text', count: 2, places: [{ part: 'a.png' }, { part: 'd.png' }] },
  ])
})
