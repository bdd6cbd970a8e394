const card = {
  type: 'card',
  title: 'Pump',
  subtitle: 'Green',
  imageUrl: 'https://example.com/pump.png',
  actions: [{ action: 'postback', label: 'Mend', value: 'mend' }],
}

const options = [{ label: 'Tea', value: 'tea' }]

const parts = {
  text: { type: 'text', text: 'Hello' },
  markdown: { type: 'markdown', markdown: '*Hello*' },
  image: { type: 'image', imageUrl: 'https://example.com/a.png' },
  audio: { type: 'audio', audioUrl: 'https://example.com/a.mp3' },
  video: { type: 'video', videoUrl: 'https://example.com/a.mp4' },
  file: { type: 'file', fileUrl: 'https://example.com/a.pdf', title: 'Manual' },
  location: {
    type: 'location',
    latitude: 50.1,
    longitude: 8.7,
    address: 'Main street 1',
    title: 'Here',
  },
} as const

/** A payload of every type, with every member. */
export const payloadExamples: Readonly<Record<string, Record<string, unknown>>> = {
  ...parts,
  card,
  carousel: { type: 'carousel', items: [card] },
  choice: { type: 'choice', text: 'Which one?', options },
  dropdown: { type: 'dropdown', text: 'Which one?', options },
  bloc: { type: 'bloc', items: Object.values(parts) },
}

/** The payload for a path such as `body.payload<bloc>.items.0<file>.title`. */
export function payloadAt(place: string): Record<string, unknown> {
  const [outer = 'text', inner] = [...place.matchAll(/<(\w+)>/g)].map(([, type]) => type)
  const payload = payloadExamples[outer] ?? {}
  const part = Object.values(parts).find(({ type }) => type === inner)
  return part ? { ...payload, items: [part] } : payload
}
