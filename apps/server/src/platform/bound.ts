type Bound<Deps, Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (
    deps: Deps,
    ...rest: infer Rest
  ) => infer Result
    ? (...rest: Rest) => Result
    : never
}

/** Joins functions to a service: each gets the same dependencies as its first parameter. */
export function bound<
  Deps,
  Functions extends Record<string, (deps: Deps, ...rest: never[]) => unknown>,
>(deps: Deps, functions: Functions): Bound<Deps, Functions> {
  const entries = Object.entries(functions).map(([name, each]) => [
    name,
    each.bind(undefined, deps),
  ])
  return Object.fromEntries(entries)
}
