import { fieldError } from '../../../domain/refusals.js'

/** The person whose password is chosen. */
export interface PasswordOwner {
  email: string
  displayName?: string | null | undefined
}

/** Characters; the contract states the same. */
const minLength = 10
/** Different characters: fewer are a key that was held down. */
const minDifferent = 5

/** Characters from which on a part of a row is one. */
const minRow = 6
/** Digits and signs that people add to a word. */
const maxAdded = 6

/** Rows of keyboards and alphabets, in which nobody should find a password. */
const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  '1q2w3e4r5t6z7u8i9o0p',
  '1q2w3e4r5t6y7u8i9o0p',
  '!@#$%^&*()',
]

/** Beginnings of the most common passwords of ten characters and more; digits and signs around them do not count. */
const common = new Set(
  `password passwort motdepasse contrasena senha wachtwoord haslo parola
  passwordpassword mypassword yourpassword newpassword oldpassword thepassword changeme pleasechangeme letmein letmeinplease
  welcome welcometo iloveyou iloveyousomuch iloveyoubaby ilovegod ilovejesus administrator admin adminadmin root superuser
  qwertyuiop qwertyqwerty asdfghjkl asdfasdf zxcvbnm basketball footballer football baseball superman batman spiderman
  starwars pokemon minecraft fortnite liverpool chelsea arsenal barcelona realmadrid manchester mercedes ferrari porsche
  sunshine princess butterfly chocolate strawberry trustnoone whatever nothing secret topsecret dragon
  monkey shadow master michael jennifer charlie jordan internet computer samsung google facebook microsoft windows
  correcthorsebatterystaple abcabc abcdabcd test testtest testing unknown default guest botstead`.split(
    /\s+/,
  ),
)

/** @throws ApiError for a password that is easily guessed */
export function requireGoodPassword(
  password: string,
  { email, displayName }: PasswordOwner,
  field: 'password' = 'password',
): void {
  const path = `body.${field}` as const
  const plain = password.normalize('NFKC').toLowerCase()
  if ([...plain].length < minLength) {
    throw fieldError(path, `must have at least ${minLength} characters.`)
  }
  if (new Set(plain).size < minDifferent) {
    throw fieldError(path, `must have at least ${minDifferent} different characters.`)
  }
  const core = coreOf(plain)
  const personal = [email, email.split('@', 1)[0] ?? '', displayName ?? '']
    .map((text) => squeeze(coreOf(text.normalize('NFKC').toLowerCase())))
    .filter((text) => text !== '')
  if (personal.includes(squeeze(core))) {
    throw fieldError(path, 'must not be your address or name.')
  }
  if (common.has(squeeze(unmask(core))) || isRow(plain) || isRow(core)) {
    throw fieldError(path, 'is one of the passwords that are tried first; choose another.')
  }
}

/** Whether a text goes along a keyboard or an alphabet, in either direction. */
function isRow(text: string): boolean {
  if (text.length < minRow) return false
  return rows.some((row) => {
    const twice = row + row
    return twice.includes(text) || [...twice].reverse().join('').includes(text)
  })
}

/** A text without a few digits and signs at its ends, which people add to a word. */
function coreOf(text: string): string {
  const core = trim(text)
  return core !== '' && text.length - core.length <= maxAdded ? core : text
}

function trim(text: string): string {
  return text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
}

function squeeze(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '')
}

/** Signs that people write for letters. */
const masks: Readonly<Record<string, string>> = { '@': 'a', 0: 'o', 1: 'l', 3: 'e', 5: 's', $: 's' }

function unmask(text: string): string {
  return text.replace(/[@0135$]/g, (sign) => masks[sign] ?? sign)
}
