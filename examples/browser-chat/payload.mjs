/** Schemes of addresses that may be opened or played; others, such as `javascript:`, could run in this page. */
const schemes = ['http:', 'https:', 'mailto:']

/**
 * Makes elements from a message, by its type. Untrusted content is only set as text, never as HTML.
 * @param choose called with the label and the value of an option or button that is pressed
 * @returns a list of nodes
 */
export function elementsOf(payload, choose) {
  const { type, items = [], title, text } = payload
  switch (type) {
    case 'image':
    case 'audio':
    case 'video':
    case 'file':
      return [mediaOf(type, payload)]
    case 'location': {
      const { latitude, longitude, address } = payload
      const place = `${latitude},${longitude}`
      const link = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}`
      return [linkTo(link, [title, address, place].filter(Boolean).join(', '))]
    }
    case 'card':
      return [cardOf(payload, choose)]
    case 'carousel':
      return items.map((card) => cardOf(card, choose))
    case 'choice':
    case 'dropdown':
      return [make('span', text), buttonsOf(payload.options, choose)]
    case 'bloc':
      // The members of a part are either beside `type` or below `payload`.
      return items.map((item) => make('div', ...elementsOf({ ...item, ...item.payload }, choose)))
    default:
      return [text ?? payload.markdown ?? title ?? `[${type}]`]
  }
}

function mediaOf(type, { title, [`${type}Url`]: address }) {
  const url = allowedUrl(address)
  if (url === undefined || type === 'file') return linkTo(address, title ?? type)
  const element = make(type === 'image' ? 'img' : type)
  element.src = url
  if (type === 'image') element.alt = title ?? ''
  else {
    element.controls = true
    element.ariaLabel = title ?? type
  }
  return element
}

function cardOf({ title, subtitle, imageUrl, actions = [] }, choose) {
  const card = make('div')
  card.className = 'card'
  if (imageUrl) card.append(mediaOf('image', { imageUrl }))
  card.append(make('strong', title ?? ''), make('span', subtitle ?? ''))
  const links = actions.filter(({ action }) => action === 'url')
  card.append(...links.map(({ label, value }) => linkTo(value, label)))
  card.append(
    buttonsOf(
      actions.filter(({ action }) => action !== 'url'),
      choose,
      { staysEnabled: true },
    ),
  )
  return card
}

/** Buttons for options, which are disabled after one is pressed, or for the actions of a card, which stay enabled. */
function buttonsOf(options = [], choose, { staysEnabled = false } = {}) {
  const group = make('div')
  group.className = 'buttons'
  for (const { label, value } of options) {
    const button = make('button', label)
    button.type = 'button'
    button.addEventListener('click', () => {
      if (!staysEnabled) for (const each of group.children) each.disabled = true
      choose(label, value)
    })
    group.append(button)
  }
  return group
}

function linkTo(address, text) {
  const url = allowedUrl(address)
  if (url === undefined) return make('span', text)
  const link = make('a', text)
  Object.assign(link, { href: url, target: '_blank', rel: 'noopener noreferrer' })
  return link
}

/** The normalized address; undefined unless its scheme is allowed. */
function allowedUrl(address) {
  const url = URL.canParse(address) ? new URL(address) : undefined
  return schemes.includes(url?.protocol) ? url.href : undefined
}

function make(name, ...inner) {
  const element = document.createElement(name)
  element.append(...inner)
  return element
}
