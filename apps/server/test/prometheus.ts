/** Values by the name of their series, as it is written in the text: name and labels. */
export type Series = ReadonlyMap<string, number>

const comment = /^# (HELP|TYPE) ([a-z_]+) (.+)$/
const sample =
  /^([a-z_]+)(\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\})? (\S+)$/

/** Reads the text format of Prometheus as strictly as Prometheus does, and throws where that would. */
export function readMetrics(text: string): Series {
  const series = new Map<string, number>()
  const types = new Map<string, string>()
  let family = ''
  if (!text.endsWith('\n')) throw new Error('The last line has no end')
  for (const line of text.slice(0, -1).split('\n')) {
    const [, word, name = '', rest = ''] = comment.exec(line) ?? []
    if (word === 'HELP') continue
    if (word === 'TYPE') {
      if (types.has(name)) throw new Error(`${name} comes twice`)
      types.set(name, rest)
      family = name
      continue
    }
    const [, series_name = '', labels = '', value] = sample.exec(line) ?? []
    const base =
      types.get(family) === 'histogram'
        ? series_name.replace(/_(bucket|sum|count)$/, '')
        : series_name
    if (base !== family || value === undefined)
      throw new Error(`This is no sample of ${family}: ${line}`)
    if (series.has(series_name + labels)) throw new Error(`${line} comes twice`)
    series.set(series_name + labels, Number(value))
  }
  return series
}
