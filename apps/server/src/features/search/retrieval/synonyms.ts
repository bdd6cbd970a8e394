/**
 * Words of offices and of support that are used for one another, by language. A line is a group; the words behind a bar are only
 * searched for the others, because it has more common meanings of its own.
 */
const groups = `
bill invoice receipt
submit file | hand turn send
delete remove erase
cost price fee charge
vacation holiday leave
salary wage pay payroll
sick ill illness
broken defective damaged faulty
repair fix mend
error failure fault
password passcode passphrase
phone telephone mobile
car vehicle
employee staff worker colleague
boss manager supervisor
buy purchase order
cancel terminate revoke
deadline due | within latest
change modify alter edit
begin start
end finish stop
permitted allowed
forbidden prohibited
refund reimburse reimbursement
address location
customer client
journey trip travel
meeting appointment
picture image photo
folder directory
login signin logon
rechnung beleg quittung
einreichen abgeben vorlegen
urlaub ferien
gehalt lohn
krank arbeitsunfaehig
defekt kaputt
reparieren instandsetzen
fehler stoerung
kosten preis gebuehr
kuendigen stornieren
loeschen entfernen
aendern bearbeiten
mitarbeiter angestellte beschaeftigte
vorgesetzter chef
kunde auftraggeber
reise dienstreise
auto fahrzeug wagen pkw
frist termin | innerhalb spaetestens
`

const endings = ['s', 'es', 'd', 'ed', 'ing', 'en', 'n', 'e', 'er']
const shortestStem = 3

const othersByWord = new Map<string, readonly string[]>()
for (const line of groups.trim().split('\n')) {
  const [mutual = '', onlySought = ''] = line.split('|').map((part) => part.trim())
  const words = mutual.split(' ')
  const sought = [...words, ...onlySought.split(' ')].filter((word) => word !== '')
  for (const word of words) {
    const others = sought.filter((other) => other !== word)
    othersByWord.set(word, [...(othersByWord.get(word) ?? []), ...others])
  }
}

/** Words that mean about the same as a word in the texts of offices; none for most words. */
export function toSynonyms(word: string): readonly string[] {
  const own = othersByWord.get(word)
  if (own !== undefined) return own
  for (const ending of endings) {
    if (!word.endsWith(ending) || word.length - ending.length < shortestStem) continue
    const stem = word.slice(0, -ending.length)
    // `submitted` doubles the last letter of its stem.
    const found =
      othersByWord.get(stem) ??
      othersByWord.get(`${stem}e`) ??
      (stem.at(-1) === stem.at(-2) ? othersByWord.get(stem.slice(0, -1)) : undefined)
    if (found !== undefined) return found
  }
  return []
}
