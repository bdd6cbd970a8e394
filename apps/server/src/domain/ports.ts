type AnyFunction = (...args: never[]) => unknown

/** A function that a slice needs of one that is built after it, which fills the port. */
export interface Port<Fn extends AnyFunction> {
  /** The function. @throws Error while the port is open */
  call: Fn
  /** @throws Error if the port is filled already */
  fill(fn: Fn): void
}

/** All ports of a server. */
export interface Ports {
  /** @param name the slice and what it needs: in the error of a start */
  open<Fn extends AnyFunction>(name: string): Port<Fn>
  /** @throws Error that names the ports which nobody has filled */
  requireFilled(): void
}

export function createPorts(): Ports {
  const unfilled = new Set<string>()
  return {
    open<Fn extends AnyFunction>(name: string): Port<Fn> {
      unfilled.add(name)
      let filled: Fn | undefined
      const call = (...args: Parameters<Fn>): unknown => {
        if (filled === undefined) throw new Error(`The port "${name}" is open`)
        return filled(...args)
      }
      return {
        // A generic function that forwards has no exact type.
        call: call as Fn,
        fill(fn) {
          if (filled !== undefined) throw new Error(`The port "${name}" is filled already`)
          filled = fn
          unfilled.delete(name)
        },
      }
    },
    requireFilled() {
      if (unfilled.size > 0) throw new Error(`No slice fills the ports ${[...unfilled].join('; ')}`)
    },
  }
}
