import { Button } from './button.js'

interface ShowMoreProps {
  /** Of TanStack Query. */
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
}

/** The button that loads the next page of a list; nothing at its end. */
export function ShowMore({ query }: ShowMoreProps) {
  if (!query.hasNextPage) return null
  return (
    <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
      Show more
    </Button>
  )
}
