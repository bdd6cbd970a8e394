/**
 * Sentences of manuals and letters, with the encodings in which programs of their countries have stored them, by the
 * names of `iconv-lite`.
 */
export const sentences: readonly {
  language: string
  encodings: readonly string[]
  text: string
}[] = [
  {
    language: 'German',
    encodings: ['win1252', 'macroman', 'cp850', 'cp437'],
    text: 'Die Tür öffnet sich erst, wenn der Schlüssel gedreht wurde. Prüfen Sie außerdem die Größe der Dichtung und füllen Sie Öl nach.',
  },
  {
    language: 'French',
    encodings: ['win1252', 'macroman', 'cp850', 'cp437'],
    text: 'La pompe démarre dès que la pression est trop élevée. Vérifiez la clé, le câble et la fenêtre après chaque arrêt, même en été.',
  },
  {
    language: 'Spanish',
    encodings: ['win1252', 'macroman', 'cp850', 'cp437'],
    text: 'El año pasado la compañía cambió la válvula. ¿Cuándo llegará el técnico? Mañana habrá más información sobre la garantía.',
  },
  {
    language: 'Portuguese',
    encodings: ['win1252', 'macroman', 'cp850', 'cp860'],
    text: 'A manutenção da máquina é feita três vezes por mês. Não há peças de reposição, porém a direção já pediu as que faltam.',
  },
  {
    language: 'Swedish',
    encodings: ['win1252', 'macroman', 'cp850', 'cp437'],
    text: 'Öppna inte dörren när maskinen är på. Fläkten måste stå still innan du rör vid bältet, även på kvällen.',
  },
  {
    language: 'Danish',
    encodings: ['win1252', 'macroman', 'cp850', 'cp865'],
    text: 'Åbn ikke døren, når maskinen kører. Køleren på bagsiden må ikke røres, før både blæser og værktøj står stille.',
  },
  {
    language: 'Finnish',
    encodings: ['win1252', 'macroman', 'cp850', 'cp437'],
    text: 'Älä avaa ovea, kun kone on käynnissä. Tarkista myös öljyn määrä ja jäähdytyksen lämpötila ennen työtä.',
  },
  {
    language: 'Polish',
    encodings: ['win1250', 'iso88592', 'cp852', 'maccenteuro'],
    text: 'Proszę wyłączyć urządzenie przed otwarciem drzwi. Części zamienne można zamówić w ciągu pięciu dni, także przez późniejszą wysyłkę.',
  },
  {
    language: 'Czech',
    encodings: ['win1250', 'iso88592', 'cp852', 'maccenteuro'],
    text: 'Před otevřením dveří vypněte zařízení. Náhradní díly můžete objednat během pěti dnů, například příští středu v naší prodejně.',
  },
  {
    language: 'Slovak',
    encodings: ['win1250', 'iso88592', 'cp852'],
    text: 'Pred otvorením dverí vypnite zariadenie. Náhradné diely môžete objednať počas piatich dní, ďalšie nájdete v našej predajni.',
  },
  {
    language: 'Hungarian',
    encodings: ['win1250', 'iso88592', 'cp852', 'maccenteuro'],
    text: 'Az ajtó kinyitása előtt kapcsolja ki a készüléket. A szűrőt és a tömítést évente kétszer kell kicserélni, különben a gép leáll.',
  },
  {
    language: 'Croatian',
    encodings: ['win1250', 'iso88592', 'cp852'],
    text: 'Prije otvaranja vrata isključite uređaj. Rezervne dijelove možete naručiti tijekom sljedećih šest dana, najčešće već sutra.',
  },
  {
    language: 'Romanian',
    encodings: ['win1250', 'iso88592'],
    text: 'Opriţi maşina înainte de a deschide uşa. Piesele de schimb se pot comanda în cinci zile, iar garanţia rămâne valabilă şi după aceea.',
  },
  {
    language: 'Lithuanian',
    encodings: ['win1257', 'iso885913', 'cp775'],
    text: 'Prieš atidarydami duris išjunkite įrenginį. Atsargines dalis galite užsisakyti per penkias dienas, o sąskaitą gausite vėliau paštu.',
  },
  {
    language: 'Latvian',
    encodings: ['win1257', 'iso885913', 'cp775'],
    text: 'Pirms durvju atvēršanas izslēdziet ierīci. Rezerves daļas var pasūtīt piecu dienu laikā, un rēķins tiks nosūtīts vēlāk pa pastu.',
  },
  {
    language: 'Estonian',
    encodings: ['win1257', 'win1252'],
    text: 'Enne ukse avamist lülitage seade välja. Varuosi saab tellida viie päeva jooksul, kuid õli tuleb vahetada ka külmal ajal üks kord kuus.',
  },
  {
    language: 'Turkish',
    encodings: ['win1254', 'cp857', 'macturkish'],
    text: 'Kapıyı açmadan önce cihazı kapatın. Yedek parçaları beş gün içinde sipariş edebilirsiniz; ödeme için lütfen müşteri numaranızı yazın.',
  },
  {
    language: 'Vietnamese',
    encodings: ['win1258'],
    text: 'Tắt máy trước khi mở cửa. Bạn có thể đặt mua phụ tùng trong năm ngày và trả tiền khi nhận được hàng.',
  },
  {
    language: 'Russian',
    encodings: ['win1251', 'koi8r', 'cp866', 'maccyrillic', 'iso88595'],
    text: 'Перед открытием двери выключите устройство. Запасные части можно заказать в течение пяти дней, а счёт придёт по почте позже.',
  },
  {
    language: 'Ukrainian',
    encodings: ['win1251', 'koi8u'],
    text: 'Перед відкриттям дверей вимкніть пристрій. Запасні частини можна замовити протягом шести днів, а рахунок надійде поштою пізніше.',
  },
  {
    language: 'Bulgarian',
    encodings: ['win1251', 'maccyrillic', 'cp866'],
    text: 'Преди да отворите вратата, изключете устройството. Резервните части могат да се поръчат до пет дни, а сметката идва по пощата.',
  },
  {
    language: 'Serbian',
    encodings: ['win1251', 'iso88595'],
    text: 'Пре отварања врата искључите уређај. Резервне делове можете наручити у року од пет дана, а рачун стиже касније поштом.',
  },
  {
    language: 'Greek',
    encodings: ['win1253', 'iso88597', 'cp737', 'cp869', 'macgreek'],
    text: 'Πριν ανοίξετε την πόρτα, σβήστε τη συσκευή. Τα ανταλλακτικά παραγγέλνονται μέσα σε πέντε ημέρες και ο λογαριασμός έρχεται αργότερα.',
  },
  {
    language: 'Hebrew',
    encodings: ['win1255', 'iso88598', 'cp862'],
    text: 'יש לכבות את המכשיר לפני פתיחת הדלת. אפשר להזמין חלקי חילוף בתוך חמישה ימים, והחשבון יגיע בדואר מאוחר יותר.',
  },
  {
    language: 'Arabic',
    encodings: ['win1256', 'iso88596'],
    text: 'أوقف الجهاز قبل فتح الباب. يمكن طلب قطع الغيار خلال خمسة أيام، وتصل الفاتورة بالبريد في وقت لاحق.',
  },
  {
    language: 'Thai',
    encodings: ['win874', 'tis620'],
    text: 'กรุณาปิดเครื่องก่อนเปิดประตู สามารถสั่งซื้ออะไหล่ได้ภายในห้าวัน และจะส่งใบแจ้งหนี้ทางไปรษณีย์ภายหลัง',
  },
  {
    language: 'Japanese',
    encodings: ['shiftjis', 'eucjp'],
    text: '扉を開ける前に装置の電源を切ってください。交換部品は五日以内に注文できます。請求書は後日郵送します。',
  },
  {
    language: 'Simplified Chinese',
    encodings: ['gb18030', 'gbk'],
    text: '打开门之前请关闭设备。备件可以在五天之内订购，发票稍后通过邮局寄出。公司地址见附件。',
  },
  {
    language: 'Traditional Chinese',
    encodings: ['big5'],
    text: '打開門之前請關閉設備。零件可以在五天之內訂購，發票稍後由郵局寄出。公司地址請見附件。',
  },
  {
    language: 'Korean',
    encodings: ['euckr', 'cp949'],
    text: '문을 열기 전에 장치를 끄십시오. 교체 부품은 닷새 안에 주문할 수 있으며 청구서는 나중에 우편으로 보내 드립니다.',
  },
]
