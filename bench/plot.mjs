// Draws how the time of searches grows with the collection.
//   BENCH_JSON=growth.json npm run bench -- search-size
//   node bench/plot.mjs growth.json docs/guides/search-growth.svg
import { readFile, writeFile } from 'node:fs/promises'

const [, , source, target] = process.argv
if (source === undefined || target === undefined) {
  console.error('usage: node bench/plot.mjs <figures.json> <drawing.svg>')
  process.exit(1)
}

const width = 720
const height = 400
const left = 64
const right = 150
const top = 48
const bottom = 56
const budgetMs = 100
/** Colours that are distinguishable on white and on black, also for the colour-blind. */
const colours = ['#888888', '#0a84c1', '#d55e00', '#009e73', '#b0489a']

const points = JSON.parse(await readFile(source, 'utf8'))
const sizes = points.map(({ passages }) => passages)
const retrievers = Object.keys(points[0].retrievers).filter(
  (retriever) => points[0].retrievers[retriever].processor,
)
const msAt = (point, retriever) => point.retrievers[retriever].processor.p95
const values = points.flatMap((point) => retrievers.map((retriever) => msAt(point, retriever)))
const xRange = [Math.min(...sizes), Math.max(...sizes)].map(Math.log10)
const yRange = [
  Math.floor(Math.log10(Math.min(...values))),
  Math.log10(Math.max(budgetMs * 1.5, ...values)),
]

const x = (passages) => scale(Math.log10(passages), xRange, [left, width - right])
const y = (ms) => scale(Math.log10(ms), yRange, [height - bottom, top])

/**
 * @param {number} value
 * @param {readonly number[]} range
 * @param {readonly number[]} place
 */
function scale(value, [from = 0, to = 0], [start = 0, end = 0]) {
  return Math.round((start + ((value - from) / (to - from || 1)) * (end - start)) * 10) / 10
}

/**
 * Powers of ten within a range.
 * @param {readonly number[]} range
 */
function decades([from = 0, to = 0]) {
  const first = Math.ceil(from)
  return Array.from({ length: Math.floor(to) - first + 1 }, (_, at) => 10 ** (first + at))
}

const text = (at, content, attributes = '') =>
  `<text x="${at.x}" y="${at.y}" ${attributes}>${content}</text>`
const line = (from, to, kind) =>
  `<line class="${kind}" x1="${from.x}" y1="${from.y}" x2="${to.x}" y2="${to.y}"/>`

/** Labels beside the ends of the curves, moved apart where they would overlap. */
function labels() {
  const last = points.at(-1)
  const wanted = retrievers
    .map((retriever, at) => ({ retriever, at, y: y(msAt(last, retriever)) + 4 }))
    .sort((a, b) => a.y - b.y)
  for (const [at, label] of wanted.entries()) {
    const above = wanted[at - 1]
    if (above && label.y < above.y + 15) label.y = above.y + 15
  }
  return wanted.map(({ retriever, at, y: labelY }) =>
    text(
      { x: width - right + 10, y: labelY },
      `${retriever}, ${msAt(last, retriever).toFixed(1)} ms`,
      `style="fill:${colours[at % colours.length]}"`,
    ),
  )
}

const grid = [
  ...decades(yRange).flatMap((ms) => [
    line({ x: left, y: y(ms) }, { x: width - right, y: y(ms) }, 'grid'),
    text({ x: left - 8, y: y(ms) + 4 }, `${ms} ms`, 'text-anchor="end"'),
  ]),
  ...sizes.flatMap((passages) => [
    line({ x: x(passages), y: top }, { x: x(passages), y: height - bottom }, 'grid'),
    text(
      { x: x(passages), y: height - bottom + 20 },
      passages.toLocaleString('en'),
      'text-anchor="middle"',
    ),
  ]),
]
const curves = retrievers.map((retriever, at) => {
  const corners = points.map((point) => `${x(point.passages)},${y(msAt(point, retriever))}`)
  return `<polyline points="${corners.join(' ')}" style="stroke:${colours[at % colours.length]}"/>`
})

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">
<title>Processor time of a search, p95, by the number of passages of the bot</title>
<style>
text { font: 12px system-ui, sans-serif; fill: #333 }
.grid { stroke: #ddd }
.budget { stroke: #c22; stroke-dasharray: 5 4 }
.ground { fill: #fff }
polyline { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd }
  .grid { stroke: #333 }
  .ground { fill: #0d1117 }
}
</style>
<rect class="ground" width="${width}" height="${height}"/>
${text({ x: left, y: 24 }, 'Processor time of a search, p95', 'font-weight="bold"')}
${grid.join('\n')}
${line({ x: left, y: y(budgetMs) }, { x: width - right, y: y(budgetMs) }, 'budget')}
${text({ x: left + 8, y: y(budgetMs) - 6 }, `budget, ${budgetMs} ms`)}
${curves.join('\n')}
${labels().join('\n')}
${text({ x: (left + width - right) / 2, y: height - 12 }, 'passages of the bot', 'text-anchor="middle"')}
</svg>
`
await writeFile(target, drawing)
