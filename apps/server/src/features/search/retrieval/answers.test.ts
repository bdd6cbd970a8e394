import { beforeAll, describe, expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { type TestBot, useFiles } from '../../../../test/files.js'

/** Makes each section a passage. */
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

const world = `# World

## العربية

تعمل المضخّة على تدوير المياه في المدرسة الكبيرة. يجب إغلاق الصمام الأحمر قبل الصيانة.

## हिन्दी

पंप विद्यालय में पानी पहुँचाता है। मरम्मत से पहले लाल वाल्व बंद करें।

## ไทย

ปั๊มน้ำส่งน้ำไปยังโรงเรียน ปิดวาล์วสีแดงก่อนซ่อมแซม

## 日本語

ポンプは学校に水を送ります。修理の前に赤いバルブを閉めてください。

## 한국어

펌프는 학교에 물을 보냅니다. 수리하기 전에 빨간 밸브를 닫으십시오.

## 中文

水泵向学校供水。维修前请关闭红色阀门。

## Русский

Насос подаёт воду в школу. Перед ремонтом закройте красный клапан.

## Ελληνικά

Η αντλία στέλνει νερό στο σχολείο. Πριν από την επισκευή κλείστε την κόκκινη βαλβίδα.

## עברית

המשאבה מזרימה מים לבית הספר. לפני תיקון יש לסגור את השסתום האדום.

## Dansk

Cirkulationspumpen sender vand til skolen. Luk den røde ventil før reparation.

## Français

La chaudière chauffe l’école. Fermez la vanne rouge avant la réparation.
`

const handbook = `# 员工手册

## 年假

员工每年享有十五天带薪年假，未休完的部分次年三月前有效。

## 报销

报销单须在每月二十五日之前提交给财务部，并附上发票。

## 密码

密码至少十二个字符，每九十天更换，由信息部重置。

## 会议室

会议室通过内部日历预订，最长四小时。

## 宠物

每周五允许携带宠物进入办公区，须事先告知前台。

## 工资

工资于每月十日发放到银行账户。

## 経費

経費の精算書は月末に経理へ提出します。

## 출장

출장 비용은 돌아온 뒤 한 주 안에 정산합니다.
`

describeSlow('answers', (engine) => {
  const bench = useFiles(engine)
  const bots: Record<string, TestBot> = {}

  beforeAll(async () => {
    for (const [name, content] of Object.entries({ heating, server, world, handbook })) {
      const bot = bench().newBot()
      await bot.uploadAndWait({ key: `${name}.md`, index: true, indexing: small }, content)
      bots[name] = bot
    }
  })

  /** The headings and scores of the passages that are found, best first. */
  async function ask(bot: string, query: string): Promise<{ heading: string; score: number }[]> {
    const client = bots[bot]?.as()
    const { passages = [] } = (await client?.searchFiles({ query, contextDepth: 0 })) ?? {}
    return passages.map(({ content, score }) => ({
      heading: /^## (.*)/m.exec(content)?.[1] ?? content,
      score,
    }))
  }

  describe('passages for a question about the documents', () => {
    it.each([
      ['server', 'How does the server stop?', 'Stopping', 0.6],
      ['server', 'rate limit for requests of a token', 'Limits', 0.5],
      ['heating', 'Wie entlüfte ich die Pumpe?', 'Umwälzpumpe', 0.5],
      ['heating', 'Was bedeutet E07?', 'Störungen', 0.5],
      // A code or a quoted phrase takes precedence over the other words.
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
      // Compounds by their last part and by their first, and parts that are written apart.
      ['heating', 'Tauscher', 'Wärmetauscher', 0.5],
      ['heating', 'Gefäß', 'Druck', 0.6],
      ['heating', 'Gefaesse', 'Druck', 0.4],
      ['heating', 'Kasten', 'Elektrischer Anschluss', 0.5],
      ['heating', 'Wartungsvertrag', 'Wartung', 0.3],
      ['heating', 'Membranventil', 'Druck', 0.2],
      // Typing errors, also where other passages contain the other words.
      ['heating', 'Umwälzpmupe', 'Umwälzpumpe', 0.7],
      ['heating', 'Umwälzpmupe Wasser Leitung Sicherung', 'Umwälzpumpe', 0.3],
      ['server', 'recieve', 'Uploads', 0.7],
      ['server', 'confguration', 'Uploads', 0.7],
      ['server', 'the adress for requests', 'Uploads', 0.6],
    ])('of %s, %s, come first: %s', async (bot, query, heading, least) => {
      const [best] = await ask(bot, query)
      expect(best?.heading).toBe(heading)
      expect(best?.score).toBeGreaterThanOrEqual(least)
    })
  })

  it.each([
    // With and without vowel signs, articles and other forms of the word.
    ['المضخة', 'العربية'],
    ['أين الصمام الاحمر؟', 'العربية'],
    ['लाल वाल्व कब बंद करें?', 'हिन्दी'],
    ['विद्यालय', 'हिन्दी'],
    ['ปิดวาล์วสีแดงเมื่อไหร่', 'ไทย'],
    ['โรงเรียน', 'ไทย'],
    ['赤いバルブはいつ閉めますか？', '日本語'],
    ['修理', '日本語'],
    ['ﾎﾟﾝﾌﾟ', '日本語'],
    ['빨간 밸브는 언제 닫습니까?', '한국어'],
    ['학교', '한국어'],
    ['什么时候关闭红色阀门？', '中文'],
    ['阀', '中文'],
    ['когда закрыть красный клапан?', 'Русский'],
    ['КЛАПАНЫ', 'Русский'],
    ['κοκκινη βαλβιδα', 'Ελληνικά'],
    ['השסתום האדום', 'עברית'],
    ['pumpe', 'Dansk'],
    ['rode ventiler', 'Dansk'],
    ['chaudiere', 'Français'],
    ['Quand fermer la vanne ?', 'Français'],
  ])('to %s are found in %s', async (query, heading) => {
    const [best] = await ask('world', query)
    expect(best?.heading).toBe(heading)
    expect(best?.score).toBeGreaterThan(0.25)
  })

  it.each([
    // Question words do not count as missing from a passage.
    ['年假有几天', '年假', 0.5],
    ['年假有多少天？', '年假', 0.5],
    ['报销单什么时候提交', '报销', 0.5],
    ['在哪里提交报销单', '报销', 0.5],
    ['密码多久更换', '密码', 0.5],
    ['怎么重置密码', '密码', 0.5],
    ['会议室怎么预订', '会议室', 0.5],
    ['可以带宠物吗', '宠物', 0.4],
    ['什么时候发工资', '工资', 0.4],
    ['工资多少钱', '工资', 0.5],
    ['経費はいつまでに提出しますか', '経費', 0.5],
    ['출장 비용은 언제 정산하나요', '출장', 0.4],
  ])('to the question %s are found in %s', async (query, heading, least) => {
    const [best] = await ask('handbook', query)
    expect(best?.heading).toBe(heading)
    expect(best?.score).toBeGreaterThanOrEqual(least)
  })

  it.each([
    ['server', 'how tall is mount everest'],
    ['server', 'best recipe for chocolate cake'],
    ['server', 'when did the roman empire fall'],
    ['server', 'distance between earth and moon'],
    ['heating', 'Wie groß ist der Saturn und sein Mond?'],
    ['heating', 'Wie viele Einwohner hat die Hauptstadt von Portugal?'],
    ['heating', 'Bundesliga Tabelle'],
    ['handbook', '台北的人口有多少'],
    ['handbook', '珠穆朗玛峰有多高'],
  ])('of %s, are not found for %s', async (bot, query) => {
    expect(await ask(bot, query)).toEqual([])
  })

  it.each([
    ['server', 'the'],
    ['server', 'is that the'],
  ])('of %s, have a low score when the question is only %s', async (bot, query) => {
    const found = await ask(bot, query)
    expect(found.length).toBeGreaterThan(0)
    expect(found[0]?.score).toBeLessThanOrEqual(0.2)
  })

  it('have a high score when function words are quoted', async () => {
    const [best] = await ask('server', '"that is lost"')
    expect(best?.heading).toBe('Tokens')
    expect(best?.score).toBeGreaterThan(0.8)
  })

  it('leave no words in the vocabulary when their file is deleted, except those of other files', async () => {
    const bot = bench().newBot()
    const upload = (key: string, content: string) =>
      bot.uploadAndWait({ key, index: true }, `# Note\n\n${content}`)
    const listWords = async () => {
      const { db } = bench().database
      const query = db.selectFrom('bot_words').select('word').where('bot_id', '=', bot.id)
      return (await query.orderBy('word').execute()).map(({ word }) => word)
    }
    await upload('one.md', 'Zeppelin harbour')
    await upload('two.md', 'Harbour lights')
    expect(await listWords()).toEqual(['harbour', 'lights', 'note', 'zeppelin'])
    await bot.as().deleteFile({ id: 'one.md' })
    await vi.waitFor(async () => expect(await listWords()).toEqual(['harbour', 'lights', 'note']))
    await upload('two.md', 'Lanterns')
    await vi.waitFor(async () => expect(await listWords()).toEqual(['lanterns', 'note']))
    await bench().search.purge(bot.id)
    expect(await listWords()).toEqual([])
  })
})

describeSlow('the words of a question that name its subject', (engine) => {
  const bench = useFiles(engine)
  const files: readonly [key: string, content: string][] = [
    [
      'faq.md',
      '# Questions of customers\n\n## How long does it take?\n\nEight weeks.\n\n' +
        '## Can customers try a boat?\n\nYes. A trial sail of two hours costs 60 pounds.',
    ],
    [
      'repairs.csv',
      'Work,Time,Worker\nReplace a mast step,6:45,Dev\nVarnish a rudder,26:30,Tunde\nSplice a halyard,0:50,Morag\nPaint a keel,9:15,Dev\n',
    ],
    [
      'lieferanten.csv',
      'Firma;Ort;Kundennr.\nTideland GmbH;Emden;00417\nKäthe Büßing;Jever;09001\n',
    ],
    ['lease.md', '# Lease\n\nThe rent is due on the third working day of each month.'],
    ['wiki.md', '# Plotter\n\nThe plotter prints patterns. Its serial number is on the back.'],
  ]
  let bot: TestBot

  beforeAll(async () => {
    bot = bench().newBot()
    for (const [key, content] of files) {
      await bot.uploadAndWait({ key, index: true, indexing: small }, content)
    }
  })

  it.each([
    ['How long does it take to varnish a rudder?', 'repairs.csv'],
    ['customer number 00417', 'lieferanten.csv'],
    ['Who is customer 09001?', 'lieferanten.csv'],
    ['How long does it take?', 'faq.md'],
  ])('count more than those that ask, and numbers of things count most: %s', async (query, key) => {
    const { passages } = await bot.as().searchFiles({ query, contextDepth: 0 })
    expect(passages[0]?.file.key).toBe(key)
  })
})
