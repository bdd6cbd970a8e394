import { beforeAll, describe, expect, it } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { type TestBot, useFiles } from '../../../../test/files.js'
import { germanManuals, licences, manualPages, partNumbers } from './names-and-languages.fixture.js'

/** The threshold that the guide advises. */
const advised = 0.4

describeSlow('search by names and in two languages', (engine) => {
  const bench = useFiles(engine)
  let english: TestBot
  let german: TestBot
  let parts: TestBot

  beforeAll(async () => {
    english = bench().newBot()
    german = bench().newBot()
    parts = bench().newBot()
    const uploads = [
      ...[...manualPages, ...licences].map((file) => [english, file] as const),
      ...germanManuals.map((file) => [german, file] as const),
      ...partNumbers.map((file) => [parts, file] as const),
    ]
    for (const [bot, [key, content]] of uploads) {
      await bot.uploadAndWait({ key, index: true }, content)
    }
  })

  async function best(bot: TestBot, query: string, minScore = 0) {
    const { passages } = await bot.as().searchFiles({ query, contextDepth: 0, limit: 5, minScore })
    return passages
  }

  describe('a question about English files', () => {
    it.each([
      ['curl: follow redirects', 'man/curl.txt', 'Location: header'],
      ['curl upload a file', 'man/curl.txt', 'transfers the specified local file'],
      ['mount without following symbolic links', 'man/mount.txt', 'nosymfollow'],
      ['rsync exclude pattern', 'man/rsync.txt', 'exclude files matching'],
      ['tar exclude pattern', 'man/tar.txt', 'Exclude files matching'],
      ['Apache licence', 'licenses/Apache-2.0.txt', ''],
      ['Apache license patents', 'licenses/Apache-2.0.txt', 'patent'],
      ['Mozilla licence', 'licenses/MPL-2.0.txt', ''],
      ['pump wiring', 'plans/pumpWiring_v2.txt', ''],
      ['pumpwiring', 'plans/pumpWiring_v2.txt', ''],
      ['colour of the listing', 'man/ls.txt', 'colorize'],
      ['organising the backup catalog', 'guides/backup.txt', 'organized'],
      ['gray background', 'guides/display.txt', 'grey'],
      ['travelling expenses', 'guides/expenses.txt', 'traveling'],
    ])('%s: %s', async (query, key, text) => {
      const [first] = await best(english, query)
      expect(first?.file.key).toBe(key)
      expect(first?.content).toContain(text)
    })

    it('prefers the spelling of the question', async () => {
      const passages = await best(english, 'colour scheme')
      expect(passages[0]?.content).toContain('colour scheme')
      expect(passages[1]?.content).toContain('color scheme')
    })
  })

  describe('a question about German files', () => {
    it.each([
      ['Wie oft muss das Öl gewechselt werden?', 'Hydrauliköl ist alle 2000'],
      ['Wie oft muss das Oel gewechselt werden?', 'Hydrauliköl ist alle 2000'],
      ['Ölwechsel', 'Hydrauliköl ist alle 2000'],
      ['Hydraulikölwechsel', 'Hydrauliköl ist alle 2000'],
      ['Wie ist die Anlage abzuschalten?', 'Zum Abschalten der Anlage'],
      ['Wie wird die Anlage abgeschaltet?', 'Zum Abschalten der Anlage'],
      ['Pumpe gereinigt', 'Reinigen Sie das Pumpengehäuse'],
      ['Wie groß ist der Betriebsdruck?', 'Der Druck im Betrieb'],
      ['schöne Oberfläche', 'schön'],
      ['Strassenverkehr', 'Straßenverkehr'],
      ['Schlauch prüfen', 'Schläuche'],
    ])('%s: %s', async (query, text) => {
      const [first] = await best(german, query)
      expect(first?.content).toContain(text)
    })

    it('distinguishes letters with dots from those without', async () => {
      for (const query of ['schön', 'schoen']) {
        const contents = (await best(german, query)).map(({ content }) => content)
        expect(contents).toEqual([expect.stringContaining('schön')])
      }
    })
  })

  describe('a part number', () => {
    it.each([
      ['4711AB3', 'parts/toner.txt'],
      ['4711-AB/3', 'parts/toner.txt'],
      ['4711–AB–3', 'parts/toner.txt'],
      ['881204', 'parts/contract.txt'],
      ['٨٨١٢٠٤', 'parts/contract.txt'],
      ['８８-１２０-４', 'parts/contract.txt'],
      ['9050-KX/7', 'parts/seal.txt'],
      ['77-310-2', 'parts/filter.txt'],
      ['0123', 'parts/valve.txt'],
      ['٠١٢٣', 'parts/valve.txt'],
      ['٤٥٦٧', 'parts/pump.txt'],
      ['XK924', 'parts/gear.txt'],
      ['xk-9/2-4', 'parts/gear.txt'],
      ['CH9300762011623852957', 'parts/account.txt'],
      ['ch93 0076 2011 6238 5295 7', 'parts/account.txt'],
      ['DE89 3704 0044 0532 0130 00', 'parts/branch.txt'],
      ['+41446681800', 'parts/desk.txt'],
      ['0041 44 668 18 00', 'parts/desk.txt'],
      ['+41 (0)44 668 18 00', 'parts/desk.txt'],
      ['+49446681800', 'parts/berlin.txt'],
      ['0315557210', 'parts/night.txt'],
      ['+41 31 555 72 10', 'parts/night.txt'],
      ['(031) 555 72 10', 'parts/night.txt'],
    ])('%s is found in any notation: %s', async (query, key) => {
      const passages = await best(parts, query, advised)
      expect(passages.map(({ file }) => file.key)).toEqual([key])
      expect(passages[0]?.score).toBeGreaterThan(0.6)
    })

    it('a national telephone number is found in those of each country', async () => {
      const keys = (await best(parts, '044 668 18 00')).map(({ file }) => file.key)
      expect(keys.sort()).toEqual(['parts/berlin.txt', 'parts/desk.txt'])
    })

    it.each([
      'XK925',
      'XK-9/2-5',
      'CH9300762011623852958',
      'CH93 0076 2011 6238 5295 8',
      '+41446681801',
      '+43 44 668 18 00',
      '0315557211',
      '881205',
      '4711-AB/4',
    ])('another one is not: %s', async (query) => {
      expect(await best(parts, query, advised)).toEqual([])
    })

    it('shows where it is written in another notation', async () => {
      const { passages } = await parts.as().explainSearch({ query: '0315557210', contextDepth: 0 })
      const marks = passages.flatMap(({ content, matches }) =>
        matches.flatMap((match) => match.marks.map(({ start, end }) => content.slice(start, end))),
      )
      expect(marks).toEqual(['031/555.72.10'])
    })
  })

  describe('words that are written together or with a hyphen', () => {
    it.each([
      ['batterydriven', 'parts/drill.txt'],
      ['battery-driven', 'parts/drill.txt'],
      ['motordriven', 'parts/saw.txt'],
      ['motor-driven', 'parts/saw.txt'],
    ])('%s: %s', async (query, key) => {
      const [first] = await best(parts, query)
      expect(first?.file.key).toBe(key)
      expect(first?.score).toBeGreaterThan(0.6)
    })
  })

  it('shows the name of a file above passages of a document without a title', async () => {
    const query = { query: 'curl: follow redirects', contextDepth: 0, limit: 1 }
    const { passages } = await english.as().searchFiles({ ...query, includeBreadcrumb: true })
    expect(passages[0]?.content).toMatch(/^# curl\n\n/)
  })

  it('finds a copy by its own name, and shows it', async () => {
    const bot = bench().newBot()
    await bot.uploadAndWait({ key: 'man/curl.txt', index: true }, 'Ask again at the new place.')
    const { file } = await bot.as().copyFile({
      idOrKey: 'man/curl.txt',
      destinationKey: 'archive/oldTransfers.txt',
    })
    await bot.awaitStatus(file.id, 'indexing_completed')
    const search = { limit: 5, contextDepth: 0, includeBreadcrumb: true }
    const find = async (query: string) =>
      (await bot.as().searchFiles({ ...search, query })).passages.map(
        ({ file: { key }, content }) => [key, content],
      )
    expect(await find('transfers')).toEqual([
      ['archive/oldTransfers.txt', '# old Transfers\n\nAsk again at the new place.'],
    ])
    expect(await find('curl')).toEqual([['man/curl.txt', '# curl\n\nAsk again at the new place.']])
    await bot.as().deleteFile({ id: file.id })
    expect(await find('archive')).toEqual([])
  })
})
