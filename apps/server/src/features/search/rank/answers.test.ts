import { beforeAll, describe, expect, it } from 'vitest'
import { describeEachEngine } from '../../../../test/engines.js'
import { type TestBot, useFiles } from '../../../../test/files.js'

/** Each section is a passage. */
const small = {
  configuration: {
    parsing: { minimumParagraphLength: 0 },
    chunking: { maximumChunkLength: 160 },
  },
}

const heating = `# Heizungsanlage

## Umwälzpumpe

Die Umwälzpumpe E-4711 fördert das Heizungswasser durch den Kreislauf. Bei Geräuschen ist die Pumpe zu entlüften.

## Zirkulationspumpe

Die Zirkulationspumpe E-4712 hält das Warmwasser in der Leitung warm. Sie läuft nach dem Zeitprogramm.

## Elektrischer Anschluss

Der Anschluss erfolgt über den Sicherungskasten im Keller. Der Schutzleiter ist zuerst anzuschließen.

## Sicherungen

Eine defekte Sicherung wird durch eine gleiche ersetzt. Die Heizkurve bleibt dabei erhalten.

## Störungen

E07: Die Temperatur ist zu hoch. F28: Der Gasdruck ist zu niedrig.

## Warmwasser

Einmal in der Woche wird zum Schutz gegen Legionellen auf 65 °C erhitzt.

## Wärmetauscher

Der Waermetauscher wird gespült.

## Wartung

Die Anlage ist jährlich zu prüfen.

## Druck

Das Membranausdehnungsgefäß ist leer zu messen.

## Maße

Die Größe beträgt 60 cm.

## Bedienfeld

Das Café-Programm heizt nur am Morgen.
`
const server = `# Server

## Stopping

The server stops after the open requests have been answered. It waits ten seconds at most.

## Uploads

A file is uploaded with one request. You receive an address that takes the content and the configuration.

## Limits

A message has at most 128 KiB, and the rate of requests is bounded for each token.

## Tokens

The token is shown once and stored as a hash. The host that is lost can be replaced.

## København

The office on the Øresund is open all day.
`

describeEachEngine('answers', (engine) => {
  const bench = useFiles(engine)
  const bots: Record<string, TestBot> = {}

  beforeAll(async () => {
    for (const [name, content] of Object.entries({ heating, server })) {
      const bot = bench().newBot()
      await bot.uploadAndWait({ key: `${name}.md`, index: true, indexing: small }, content)
      bots[name] = bot
    }
  })

  /** What is found: the heading of each passage and its score, best first. */
  async function ask(bot: string, query: string): Promise<{ heading: string; score: number }[]> {
    const client = bots[bot]?.as()
    const { passages = [] } = (await client?.searchFiles({ query, contextDepth: 0 })) ?? {}
    return passages.map(({ content, score }) => ({
      heading: /^## (.*)/m.exec(content)?.[1] ?? content,
      score,
    }))
  }

  describe('to a question about the documents', () => {
    it.each([
      ['server', 'How does the server stop?', 'Stopping', 0.6],
      ['server', 'rate limit for requests of a token', 'Limits', 0.5],
      ['heating', 'Wie entlüfte ich die Pumpe?', 'Umwälzpumpe', 0.5],
      ['heating', 'Was bedeutet E07?', 'Störungen', 0.5],
      // A code or a quoted phrase is what was meant, whatever else was written.
      ['heating', 'Umwälzpumpe E-4711 Sicherung', 'Umwälzpumpe', 0.7],
      ['heating', 'Umwälzpumpe E-4712 Sicherung', 'Zirkulationspumpe', 0.6],
      ['heating', 'Sicherung Heizkurve Anschluss F28', 'Störungen', 0.4],
      ['heating', '"Schutz gegen Legionellen" Heizkurve Sicherung', 'Warmwasser', 0.6],
      // Accents, and letters that are written out.
      ['heating', 'cafe', 'Bedienfeld', 0.9],
      ['heating', 'Umwaelzpumpe', 'Umwälzpumpe', 0.9],
      ['heating', 'Gerausche', 'Umwälzpumpe', 0.7],
      ['heating', 'Waermetauscher', 'Wärmetauscher', 0.9],
      ['heating', 'Größe', 'Maße', 0.9],
      ['heating', 'Groesse', 'Maße', 0.9],
      ['server', 'kobenhavn', 'København', 0.9],
      ['server', 'København Øresund', 'København', 0.9],
      // Compounds by their last part and by their first, and parts that are not written together.
      ['heating', 'Tauscher', 'Wärmetauscher', 0.5],
      ['heating', 'Gefäß', 'Druck', 0.7],
      ['heating', 'Gefaesse', 'Druck', 0.5],
      ['heating', 'Kasten', 'Elektrischer Anschluss', 0.5],
      ['heating', 'Wartungsvertrag', 'Wartung', 0.3],
      // Typing errors, also where other passages have the other words.
      ['heating', 'Umwälzpmupe', 'Umwälzpumpe', 0.7],
      ['heating', 'Umwälzpmupe Wasser Leitung Sicherung', 'Umwälzpumpe', 0.3],
      ['server', 'recieve', 'Uploads', 0.7],
      ['server', 'confguration', 'Uploads', 0.7],
      ['server', 'the adress for requests', 'Uploads', 0.7],
    ])('of %s, %s, come first: %s', async (bot, query, heading, least) => {
      const [best] = await ask(bot, query)
      expect(best?.heading).toBe(heading)
      expect(best?.score).toBeGreaterThanOrEqual(least)
    })
  })

  it.each([
    ['server', 'how tall is mount everest'],
    ['server', 'best recipe for chocolate cake'],
    ['server', 'when did the roman empire fall'],
    ['server', 'distance between earth and moon'],
    ['heating', 'Wie groß ist der Saturn und sein Mond?'],
    ['heating', 'Wie viele Einwohner hat die Hauptstadt von Portugal?'],
    ['heating', 'Bundesliga Tabelle'],
  ])('of %s, there are none to %s', async (bot, query) => {
    expect(await ask(bot, query)).toEqual([])
  })

  it.each([
    ['server', 'the'],
    ['server', 'is that the'],
  ])('of %s, have a low score when %s is all that was asked', async (bot, query) => {
    const found = await ask(bot, query)
    expect(found.length).toBeGreaterThan(0)
    expect(found[0]?.score).toBeLessThanOrEqual(0.2)
  })

  it('have a high score when function words are quoted', async () => {
    const [best] = await ask('server', '"that is lost"')
    expect(best?.heading).toBe('Tokens')
    expect(best?.score).toBeGreaterThan(0.8)
  })
})
