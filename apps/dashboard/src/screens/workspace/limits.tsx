import { formatBytes, formatNumber } from '../../ui/numbers.js'
import { ItemList, Pane, Part } from '../../ui/part.js'
import { ErrorPanel, Skeleton } from '../../ui/states.js'
import { useLimits } from './queries.js'
import styles from './workspace.module.css'

/** The limits of the workspace with what is used of them. */
export function Limits() {
  const { data, error, refetch } = useLimits()
  const limits = data?.limits ?? []
  return (
    <Pane>
      {error !== null && <ErrorPanel error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton />}
      <Part title="In use">
        <ItemList
          items={limits.filter(({ used }) => used !== undefined)}
          idOf={({ name }) => name}
          describe={({ description, used = 0, isExact, limit, unit, setting }) => ({
            name: description,
            facts: (
              <>
                {limit !== undefined && (
                  <meter
                    className={styles.meter ?? ''}
                    min={0}
                    max={limit}
                    high={limit * 0.8}
                    value={used}
                    aria-label={description}
                  />
                )}
                {isExact === false && 'at least '}
                {format(used, unit)}
                {limit !== undefined && ` of ${format(limit, unit)}`}
                {setting !== undefined && (
                  <>
                    {' '}
                    (<code>{setting}</code>)
                  </>
                )}
              </>
            ),
          })}
        />
      </Part>
      <Part title="Of one object or request">
        <ItemList
          items={limits.filter(({ used }) => used === undefined)}
          idOf={({ name }) => name}
          describe={({ description, limit, unit, setting }) => ({
            name: description,
            facts: (
              <>
                {limit === undefined ? 'no limit' : format(limit, unit)}
                {setting !== undefined && (
                  <>
                    {' '}
                    (<code>{setting}</code>)
                  </>
                )}
              </>
            ),
          })}
        />
      </Part>
    </Pane>
  )
}

function format(value: number, unit: 'bytes' | 'count'): string {
  return unit === 'bytes' ? formatBytes(value) : formatNumber(value)
}
