import { isUnspaced, normalise } from './normalise.js'

/**
 * Function words, by language: articles, pronouns, prepositions, conjunctions, auxiliary verbs and question
 * words, which say nothing about the subject of a question.
 */
const wordLists: Readonly<Record<string, string>> = {
  de: `aber als also am an auch auf aus bei beim bin bis bist da dann darf das dass dein dem den denn der des
    die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es euer
    für gegen gibt hab habe haben hast hat hatte ich ihm ihn ihnen ihr ihre im in ins ist ja jede jeder kann
    kein keine kommt können man mehr mein meine mich mir mit muss müssen nach nicht noch nur ob oder ohne sehr
    sein seine sich sie sind so soll sollte sollen über um und uns unser unter viel viele vom von vor wann war
    waren warum was weil welche welchem welchen welcher welches wem wen wenn wer werde werden wie wieso wieviel
    will wir wird wo woher wohin womit worum wurde wurden zu zum zur zwischen oft schon bereits bitte etwa etwas alle allen
    aller alles dabei dazu darauf damit deren dessen jedoch sondern sowie während bevor nachdem müsste könnte
    weshalb weswegen wessen wieviele wofür wozu worauf worin wovon woran wobei wodurch wonach inwiefern darfst
    dürfen musst`,
  fr: `a ai alors as au aux avec avez avoir c ce cela ces cet cette chez combien comme comment d dans de depuis des
    dois doit donc dont du elle elles en entre est et etait ete etre eux fait faire faut il ils j je l la le les
    leur leurs lui ma mais me mes moi mon n ne ni nos notre nous on ont ou par pas peut peux plus pour pourquoi qu
    quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sous sur t ta te tes toi ton tous
    tout toute tres tu un une vos votre vous y
    auquel duquel laquelle lequel lesquelles lesquels doivent peuvent pouvez puis veut veux`,
  es: `a al algo alguna alguno ante antes aqui cada como con cual cuales cuando cuanta cuantas cuanto cuantos de
    debe debo del desde donde e el ella ellas ellos en entre era es esa ese eso esta estan estas este esto estos
    fue fueron ha hace hacer han hasta hay la las le les lo los mas me mi mis muy nada ni no nos nosotros o os
    para pero por porque puede puedo que quien quienes se sea ser si sin sobre son su sus tambien te tiene tienen
    todo todos tu tus un una uno unos y ya yo
    adonde cuya cuyo deben debemos hago hacen podemos pueden tengo`,
  it: `a ad agli ai al alla alle allo anche c che chi ci come con cosa cui d da dagli dai dal dalla dei del della
    delle dello deve di dov dove e ed era essere fa fare gli ha hanno ho i il in io l la le lei li lo loro lui ma
    me mi mio ne nei nel nella nelle noi non o per perche piu puo qual quale quali quando quanta quanti quanto
    questa queste questi questo se si sia sono su sua sue sui sul sulla suo tra tu tuo un una uno vi voi
    devo devono possiamo possono posso puoi quest`,
  pt: `a ao aos as ate com como da das de dela dele deve do dos e ela elas ele eles em entre era essa esse esta
    este eu faz fazer foi foram ha isso isto ja la lhe mais mas me meu minha muito na nao nas nem no nos o onde os
    ou para pela pelas pelo pelos pode podem por porque posso qual quais quando quanta quantas quanto quantos que
    quem se sem ser seu seus so sobre sua suas tambem tem tenho um uma umas uns voce voces
    aonde devem devo fica ficam podemos preciso`,
  nl: `aan al als bij dan dat de der deze die dit doe doen door dus een en er ga gaat geen haar had heb hebben heeft
    hem het hij hoe hoeveel hun ik in is ja je jij jouw kan kun kunnen maar me meer men met mij mijn moet moeten na
    naar niet nog nu of om omdat onder ons onze ook op over te tegen ten tot u uit uw van veel voor waar waarom
    wanneer waren was wat we welk welke werd wie wij wil worden wordt zal ze zich zij zijn zo zonder zou
    hoelang mag mogen waarheen waarin waarmee waarop waarover waarvoor wiens`,
  sv: `alla att av blir blev da de dem den denna deras dess det detta dig din du eller en ett finns från för gor
    ha hade han har hon hur i icke inte ja jag kan man med men mig min mot mycket när ni nu någon något och
    om oss på så ska skulle som till ut upp under vad var varför varje vara vem vi vid vilka vilken vilket är åt
    bör får hurdan måste varifrån vart vems vilkas`,
  da: `af alle at blev bliver da de dem den denne der deres det dette dig din disse du eller en er et for fra ga
    gor ha har have hun hvad hvem hver hvilke hvilken hvilket hvis hvor hvordan hvorfor hvornar han i ikke ja jeg
    jer kan man med meget men mig min mod nar ned nej nogle nok nu og ogsa om op os over pa sa sig sin skal
    skulle som til ud under var ved vi vil vaere
    bør hvorfra hvorhen hvornår hvortil må måtte`,
  pl: `a aby ale bez bo by byl byla bylo byc ci co czy dla do gdy gdzie go i ich ile im ja jak jaka jaki jakie je
    jego jej jest jestem juz kiedy kto ktora ktore ktory ma mam mi mnie moge moj mozna na nad nie niej o od on ona
    one oni po pod przed przez przy sa sie skad ta tak tam te tego tej ten to tu ty tylko w we wiec z za ze
    czego czemu czym dlaczego dokąd ilu jakich jakiego jakiej jakim kim kogo komu która które którego której
    których którym którzy mogą muszę musi należy odkąd powinien powinno skąd trzeba`,
  tr: `ama bana bazi ben beni bir biri bu bunu cok da daha de degil diye en gibi hangi hem her hic icin ile ise
    kac kadar ki kim kimi mi mu nasil ne neden nedir nerede nereye niye o olan olarak oldu onu sen siz su ve veya
    ya yok var
    hangisi kaça kaçta kimin midir mıdır mudur müdür miyim niçin nelerdir nereden zaman`,
  ru: `а без был была были было быть в вам вас во вот все всё вы где да для до его ее её если есть ещё еще же за и из
    или им их к как какая какие какой какое когда кто куда ли меня мне мой мы на над надо не него нее нет ни но о об
    он она они оно от откуда по под почему при про с сколько со так там то тоже только ты у уже чего чей чем через
    что чтобы эта эти это этот я
    зачем каков какова каковы какого какому какую кем кого кому могу может можно нужно отчего почем чему`,
  ar: `ان ال الذي التي الي او اي اين اذا انا انت انه ايضا بعد بين تم ثم حتي حول خلال ذلك عن عند علي عليه غير في
    فيه قبل قد كان كانت كم كما كل كيف لا لان لم لماذا لن له لها ما ماذا متي مع من منذ منه نحن هذا هذه هل هم هو هي
    و هناك يكون
    بكم ماهو ماهي أين متى`,
  hi: `अपने आप इस इसके उस उसके एक ऐसे और कब कहाँ कहां का कि कितना कितनी कितने किस किसने की के कैसे को कोई कौन
    क्या क्यों कर करता करते करें करना गया जब जा जो तक तो था थी थे द्वारा दिया नहीं ने पर भी मुझे में मैं यदि यह या
    ये लिए वह वे साथ से सकता सकते है हैं हुआ हुई हूँ हो होता होती होते होना
    किन किसको किसे कैसा कैसी कौनसा कौनसी चाहिए`,
  zh: `的 了 和 是 在 有 与 與 及 或 被 把 从 從 到 对 對 为 為 于 於 以 之 其 这 這 那 哪 谁 誰 我 你 他 她 它
    我们 你们 他们 什么 什麼 甚么 怎么 怎麼 怎样 怎樣 如何 为什么 為什麼 多少 几 幾 哪个 哪個 哪些 哪里 哪裡 何时 何時
    吗 嗎 呢 吧 请 請 可以 能 能够 是否 一个 一個 这个 這個 那个 那個 以及 因为 因為 所以 但是 如果 哪一 哪一个 最
    什么时候 什麼時候 几天 幾天 几个 幾個 几次 幾次 几点 幾點 几年 幾年 多久 多长 多長 多长时间 多長時間 多大 多少钱
    多少錢 哪儿 哪兒 哪天 哪种 哪種 怎么办 怎麼辦 怎么样 怎麼樣 有没有 有沒有 是不是 能不能 可不可以 应该 應該
    何 为何 為何 何处 何處 哪位 第几 第幾 多高 多重 多远 多遠 多快 什么样 什麼樣`,
  ja: `の に は を た が で て と し れ さ ある いる も する から な こと として い や れる など なっ ない この ため その
    あっ よう また もの という あり まで られ なる へ か だ これ によって により おり より による ず なり られる ください
    何 誰 いつまで どのくらい どれくらい どうすれば ありま すか ません どこ いつ なぜ どう どの どれ れ ば す いい か でき くだ さい たい たら なら ので のに まし でし どんな どうやって いくつ いくら です ます ですか ますか でしょう ました
    だれ どちら どなた なに なん どうして 何時 何日 何人 何回 何年`,
  th: `ที่ และ ใน ของ มี เป็น การ ได้ ให้ ว่า จะ ไม่ กับ หรือ อะไร ใคร เมื่อ เมื่อไหร่ ไหน อย่างไร ยังไง ทำไม กี่
    เท่าไร เท่าไหร่ นี้ นั้น จาก โดย แต่ ก็ คือ ไป มา แล้ว ต้อง ถ้า
    เท่า ไหร่ ไร ที่ไหน เพราะอะไร เมื่อใด ใด ไหม มั้ย กี่โมง`,
  ko: `은 는 이 가 을 를 의 에 에서 와 과 도 로 으로 그 저 이것 그것 무엇 무엇을 어떻게 왜 언제 어디 어디서 어디에
    누구 누가 얼마나 몇 어느 어떤 수 있는 있나요 하나요 인가요 입니까 합니까 무엇입니까 무엇인가요
    며칠 며칠인가요 얼마 얼마인가요 언제인가요 언제까지 어디인가요 누구인가요
    습니 니까 니다 세요 나요 까요 합니 입니 됩니 시오 하는 하고 해서 에는 에도 에게 까지 부터 처럼 보다
    무슨 어째서 무엇이 어디로 누구의 몇시`,
}

/**
 * Verbs beside words that ask for an amount, by language: "how much does it cost", "wie lange dauert". They say nothing about
 * the subject of such a question, and much about that of others.
 */
const amounts: Readonly<Record<string, { asked: string; verbs: string }>> = {
  en: { asked: 'much many long', verbs: 'cost costs take takes last lasts' },
  de: { asked: 'viel wieviel was lange', verbs: 'kostet kosten beträgt betragen dauert dauern' },
  fr: { asked: 'combien', verbs: 'coûte coûtent coûtera vaut valent dure durent prend temps' },
  es: {
    asked: 'cuánto cuánta cuántos cuántas',
    verbs: 'cuesta cuestan vale valen dura duran tarda tiempo',
  },
  it: {
    asked: 'quanto quanta quanti quante',
    verbs: 'costa costano vale valgono dura durano tempo',
  },
  pt: {
    asked: 'quanto quanta quantos quantas',
    verbs: 'custa custam vale valem dura duram demora leva tempo',
  },
  nl: { asked: 'hoeveel wat lang hoelang', verbs: 'kost kosten duurt duren' },
  sv: { asked: 'mycket vad länge lång', verbs: 'kostar tar tid' },
  da: { asked: 'meget hvad længe lang', verbs: 'koster tager tid varer' },
  pl: { asked: 'ile ilu długo', verbs: 'kosztuje kosztują trwa trwają wynosi wynoszą czasu' },
  tr: { asked: 'kaç kaça kadar', verbs: 'tutar tutuyor eder sürer sürüyor' },
  ru: { asked: 'сколько почем долго', verbs: 'стоит стоят длится длятся занимает времени' },
  ar: { asked: 'كم بكم', verbs: 'يكلف تكلف يستغرق تستغرق' },
  hi: { asked: 'कितना कितनी कितने', verbs: 'लगता लगती लगते समय' },
  zh: { asked: '多少 多少钱 多少錢 多久 多长时间 多長時間', verbs: '要 需要 花 花费 花費' },
  ja: { asked: 'いくら どのくらい どれくらい', verbs: 'かかり かかる' },
  th: { asked: 'เท่าไร เท่าไหร่ ไหร่ กี่ นาน', verbs: 'ราคา ใช้เวลา' },
}

const verbsOfAmounts = Object.entries(amounts).map(([language, { asked, verbs }]) => ({
  language,
  asked: new Set(toWords(asked)),
  verbs: new Set(toWords(verbs)),
}))

/**
 * The words of a question that only ask for an amount, such as `ile` and `kosztuje`.
 *
 * @param words normalised
 */
export function askingWordsOf(words: readonly string[]): Set<string> {
  return new Set(askingWords(words).flatMap(({ asking }) => asking))
}

function askingWords(words: readonly string[]): { language: string; asking: string[] }[] {
  return verbsOfAmounts.flatMap(({ language, asked, verbs }) => {
    const questions = words.filter((word) => asked.has(word))
    const found = words.filter((word) => verbs.has(word))
    const isAsking = questions.length > 0 && found.length > 0
    return isAsking ? [{ language, asking: [...questions, ...found] }] : []
  })
}

const koreanEndings = new Set(toWords(wordLists.ko ?? ''))

/** Whether a pair of characters is usually an ending of Korean words, which are written without a space. */
export function isEnding(pair: string): boolean {
  return koreanEndings.has(pair)
}

const languagesByWord = new Map(
  Object.entries(wordLists).map(([language, words]) => [language, new Set(toWords(words))]),
)

/** The words of a list, also without accents. */
function toWords(list: string): string[] {
  return `${normalise(list)} ${normalise(list, 'folded')}`.trim().split(/\s+/)
}

/** Function words that identify a language. Single ones are ambiguous, such as German and English "war". */
const minOfLanguage = 2

/** Whether a single word identifies its language: several characters of a script that few languages share. */
function isUnambiguous(word: string): boolean {
  return isUnspaced(word) && [...word].length > 1
}

/**
 * The function words of a question: those of English and of the language that most of them belong to.
 *
 * @param words normalised, each as it was written
 */
export function functionWordsOf(words: readonly string[]): Set<string> {
  const distinct = [...new Set(words)]
  const english = distinct.filter(isStopword)
  const asking = new Map(askingWords(distinct).map(({ language, asking }) => [language, asking]))
  const matches = [...languagesByWord].map(([language, list]) => {
    const found = distinct.filter((word) => list.has(word))
    // A verb beside its question word shows the language, and remains a word to search for.
    const signs = new Set([...found, ...(asking.get(language) ?? [])]).size
    return { found, signs }
  })
  const most = Math.max(...matches.map(({ signs }) => signs))
  if (most <= english.length) return new Set(english)
  if (most < minOfLanguage) {
    const found = matches.flatMap(({ found }) => found)
    return new Set([...english, ...found.filter(isUnambiguous)])
  }
  const best = matches.filter(({ signs }) => signs === most)
  return new Set([...english, ...best.flatMap(({ found }) => found)])
}

/** Longer function words of German that do not exist in English: a German text has most of them. */
export const germanSigns: readonly string[] = toWords(
  'nicht wird werden eine einer einen oder sind durch nach beim muss auch wenn diese',
)

/**
 * Whether a question may be German: it has at least as many function words of German as of English,
 * possibly none of either.
 *
 * @param words normalised
 */
export function mayBeGerman(words: readonly string[]): boolean {
  const german = languagesByWord.get('de')
  const distinct = [...new Set(words)]
  const english = distinct.filter(isStopword)
  return distinct.filter((word) => german?.has(word)).length >= english.length
}

/** Whether a word is a German function word. */
export function isGermanGrammar(word: string): boolean {
  return languagesByWord.get('de')?.has(word) === true
}

/**
 * English function words that say nothing about the subject of a question.
 * The single letters and stumps are remains of contractions (`don't`, `we'll`).
 */
const englishWords = `
a about above after again against all also am an and any are as at
be because been before being below between both but by
can could did do does doing down during each few for from further
had has have having he her here hers herself him himself his how
i if in into is it its itself just many me more most much must my myself
no nor not now of off on once only or other our ours ourselves out over own
please same shall she should so some such
than that the their theirs them themselves then there these they this those through to too
under until up upon us very was we were what when where which while who whom whose why will with would
you your yours yourself yourselves
aren couldn d didn doesn don hadn hasn haven isn ll m re s shouldn t ve wasn weren won wouldn
`

const stopwords: ReadonlySet<string> = new Set(englishWords.trim().split(/\s+/))

/** Whether a normalised token is an English function word. */
export function isStopword(token: string): boolean {
  return stopwords.has(token)
}
