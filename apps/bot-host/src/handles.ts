import net from 'node:net'

// Below the public classes of Node are handles, whose methods call the system. Code can get at them, but not
// at their classes before one of them was made.

type Method = (this: object, ...given: unknown[]) => unknown

/** The methods of the handle of an object. */
export function handlePrototypeOf(owner: object): object {
  const handle = Reflect.get(owner, '_handle')
  if (typeof handle !== 'object' || handle === null) {
    throw new Error(
      'This version of Node keeps its handles where they cannot be guarded: use a supported version.',
    )
  }
  return Object.getPrototypeOf(handle)
}

/** The methods of the handles of TCP sockets. */
export function tcpPrototype(): object {
  // The socket is destroyed before it tries to connect.
  return connectedPrototype({ host: '127.0.0.1', port: 1 })
}

/** The methods of the handles of local sockets. */
export function pipePrototype(): object {
  return connectedPrototype({ path: '/dev/null/none' })
}

function connectedPrototype(options: net.NetConnectOpts): object {
  const socket = new net.Socket()
  socket.on('error', () => {})
  socket.connect(options)
  const prototype = handlePrototypeOf(socket)
  socket.destroy()
  return prototype
}

/** Replaces methods, as far as they exist, so that the code can neither put them back nor replace them. */
export function replaceForGood(
  target: object,
  names: readonly string[],
  make: (original: Method) => Method | undefined,
): void {
  for (const name of names) {
    const original: Method | undefined = Reflect.get(target, name)
    if (original === undefined) continue
    const value = make(original)
    // Node gives some objects methods of their own, which a property that is only not writable would prevent.
    Object.defineProperty(target, name, {
      get: () => value,
      set(this: object, own: unknown) {
        Object.defineProperty(this, name, { value: own, writable: true, configurable: true })
      },
      configurable: false,
    })
  }
}

export function refusal(message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code: 'ERR_ACCESS_DENIED' })
}
