// Errors name a field by its path in the request, which helps who writes requests. Others see a form, a chat
// or a command, and know of no body.

const field = /(?<![\w./@-])(?:body|query|params|headers)\.([A-Za-z_][\w-]*(?:\.[\w-]+)*)/
const atStart = new RegExp(`^(A name in )?${field.source}(:)? `)
const anywhere = new RegExp(field, 'g')

/** The message of an error for people who see no request: in it, fields have names instead of paths. */
export function messageForPeople(message: string): string {
  return withSubject(message, (path) => path)
}

/**
 * The message of an error as it stands at the form field that it is about, whose label says the name. Members of the
 * value keep their names, because people wrote these.
 */
export function messageAtField(message: string): string {
  return withSubject(message, ([, ...inside]) => inside, { keepsNames: true })
}

function withSubject(
  message: string,
  named: (path: string[]) => string[],
  { keepsNames = false } = {},
): string {
  const [start = '', ofName = '', path = '', colon] = atStart.exec(message) ?? []
  const rest = message
    .slice(start.length)
    .replace(anywhere, (_, other: string) => inWords(other.split('.')))
  if (start === '') return rest
  const place = named(path.split('.'))
  const isMember = isName(path.split('.').slice(1).at(-1))
  if (keepsNames && isMember) return `${place.join('.')} ${rest}`
  const name = colon === undefined ? inWords(place) : ''
  if (ofName !== '') return name === '' ? `A name ${rest}` : `A name in ${name} ${rest}`
  const whole = name === '' ? rest : `${name} ${rest}`
  // The name of a member of a value stands as it was written.
  return isMember && name !== '' ? whole : whole.slice(0, 1).toUpperCase() + whole.slice(1)
}

function isName(part: string | undefined): boolean {
  return part !== undefined && !/^\d+$/.test(part)
}

/** Words for the path of a field, such as `entry 2 of allowed origins` for `allowedOrigins.1`. */
function inWords([first, ...inside]: string[]): string {
  if (first === undefined) return ''
  const words = nameOf(
    first.replaceAll(/(?<=[a-z\d])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
  )
  return inside.reduce((whole, name) => `${nameOf(name)} of ${whole}`, words)
}

function nameOf(name: string): string {
  return isName(name) ? name : `entry ${Number(name) + 1}`
}
