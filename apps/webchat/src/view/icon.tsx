const paths = {
  close:
    'm6.4 4.9 5.6 5.7 5.6-5.7 1.5 1.5-5.7 5.6 5.7 5.6-1.5 1.5-5.6-5.7-5.6 5.7-1.5-1.5 5.7-5.6-5.7-5.6z',
  restart: 'M11 4h2v7h7v2h-7v7h-2v-7H4v-2h7z',
  history:
    'M12 3a9 9 0 1 1-8.5 6h2.2A7 7 0 1 0 12 5a7 7 0 0 0-5 2.1L9 9H3V3l2.6 2.6A9 9 0 0 1 12 3zm-1 4h2v4.6l3.2 3.2-1.4 1.4L11 12.4z',
  send: 'M3 20.5 21 12 3 3.5 3 10l11 2-11 2z',
  attach:
    'M7 7v9a5 5 0 0 0 10 0V6a3.5 3.5 0 0 0-7 0v9.5a2 2 0 0 0 4 0V7h1.6v8.5a3.6 3.6 0 0 1-7.2 0V6a5.1 5.1 0 0 1 10.2 0v10a6.6 6.6 0 0 1-13.2 0V7z',
  up: 'M2 10h4v11H2zm6 0 4-8c1.7 0 2.6 1.2 2.3 2.8L13.5 9H20a2 2 0 0 1 2 2.4l-1.6 8A2 2 0 0 1 18.4 21H8z',
  down: 'M22 14h-4V3h4zm-6 0-4 8c-1.7 0-2.6-1.2-2.3-2.8l.8-4.2H4a2 2 0 0 1-2-2.4l1.6-8A2 2 0 0 1 5.6 3H16z',
  back: 'M20 11H8l5.3-5.3L12 4.2 4.2 12l7.8 7.8 1.4-1.5L8 13h12z',
  file: 'M6 2h8l5 5v15H6zm7 1.8V8h4.2z',
  map: 'M12 2a7 7 0 0 1 7 7c0 5-7 13-7 13S5 14 5 9a7 7 0 0 1 7-7zm0 4.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
} as const

/** A decorative picture, hidden from screen readers: the element around it has a name. */
export function Icon({ name }: { name: keyof typeof paths }) {
  return (
    <svg className={`icon icon-${name}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
