import { formatBytes, formatNumber } from '../../ui/numbers.js'
import { ItemList, Part } from '../../ui/part.js'
import { Unread } from '../../ui/states.js'
import { useLimits } from './queries.js'
import styles from './workspace.module.css'

/** The limits that the server sets, with what is used of them, and numbers that have no limit. */
export function Limits() {
  const { data, error, refetch } = useLimits()
  const limits = data?.limits ?? []
  return (
    <>
      <Part title="Limits of the server" hint="The operator of the server sets these limits.">
        {data === undefined && <Unread error={error} refetch={refetch} />}
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
    </>
  )
}

function format(value: number, unit: 'bytes' | 'count'): string {
  return unit === 'bytes' ? formatBytes(value) : formatNumber(value)
}
