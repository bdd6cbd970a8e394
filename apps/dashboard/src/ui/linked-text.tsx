import { OutsideLink } from './outside-link.js'

/** An address in a text; punctuation behind it belongs to the sentence. */
const address = /(https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]}'])/

/** Text with its web addresses as links. */
export function LinkedText({ text }: { text: string }) {
  // The odd ones are the addresses.
  return text.split(address).map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts never move
    index % 2 === 0 ? part : <OutsideLink key={index} url={part} />,
  )
}
