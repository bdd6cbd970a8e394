import type { UsageType } from '@botstead/contract'
import { type ReactNode, useState } from 'react'
import { useAddressSearch } from '../../api/address.js'
import { type SetQuota, useDailyUsage, useUsages } from '../../api/usage.js'
import { SelectField } from '../form.js'
import { Pane, Part } from '../part.js'
import { Unread } from '../states.js'
import { DayChart } from './day-chart.js'
import { Figures, type ServerQuotas } from './figures.js'
import { dailyTypes, formatUsage, kindOf } from './kinds.js'
import { daysOf, monthOf, monthsUntil, nameOfDay, nameOfMonth, sumByDay } from './months.js'
import styles from './usage.module.css'

/** The choices of the reader, which are in the address. */
interface Shown {
  month: string
  /** The type of which more than one figure is shown. */
  type: UsageType
}

interface UsageViewProps<Limited extends UsageType> {
  /** Of the workspace or of a bot. */
  id: string
  types: readonly UsageType[]
  /** Types that can have a quota. */
  limited: readonly Limited[]
  /** Quotas that the server sets. */
  ofServer?: ServerQuotas
  /** Only for those who may. */
  setQuota?: SetQuota<Limited> | undefined
  /** Beside the choice of the month. */
  actions?: (month: string) => ReactNode
  /** Parts after these. */
  children?: (shown: Shown) => ReactNode
}

/** The usage of a workspace or a bot in a month, against its quotas and by day. */
export function UsageView<Limited extends UsageType>(props: UsageViewProps<Limited>) {
  const { id, types, limited, ofServer = {}, setQuota, actions, children } = props
  const [search, change] = useAddressSearch()
  const [months] = useState(() => monthsUntil(Date.now()))
  const month = months.find((each) => each === search.month) ?? monthOf(Date.now())
  const type = dailyTypes.find((each) => each === search.type) ?? dailyTypes[0]
  const { query, usages } = useUsages({ ids: [id], types, period: month })
  return (
    <Pane>
      <div className={styles.toolbar}>
        <SelectField
          label="Month"
          options={months.map((value) => ({ value, label: nameOfMonth(value) }))}
          value={month}
          onChange={({ target }) =>
            void change({ month: target.value === months[0] ? undefined : target.value })
          }
        />
        {actions?.(month)}
      </div>
      <Part title={`Usage in ${nameOfMonth(month)}`}>
        {query.data === undefined ? (
          <Unread {...query} />
        ) : (
          <Figures
            usages={usages}
            limited={limited}
            ofServer={ofServer}
            isCurrent={month === months[0]}
            setQuota={setQuota}
          />
        )}
      </Part>
      <Part title="By day">
        <SelectField
          label="Type"
          options={dailyTypes.map((value) => ({ value, label: kindOf(value).label }))}
          value={type}
          onChange={({ target }) =>
            void change({ type: target.value === dailyTypes[0] ? undefined : target.value })
          }
        />
        <Daily key={`${type} ${month}`} id={id} type={type} month={month} />
      </Part>
      {children?.({ month, type })}
    </Pane>
  )
}

function Daily({ id, type, month }: Shown & { id: string }) {
  const dates = daysOf(month)
  const [first = '', last = ''] = [dates[0], dates.at(-1)]
  const { query, rows, isReading } = useDailyUsage(id, type, first, last)
  if (query.data === undefined || isReading) return <Unread {...query} lines={3} />
  // Of the oldest day that was read, rows of some bots may be missing.
  const cut = query.hasNextPage ? rows.at(-1)?.date : undefined
  const shown = cut === undefined ? dates : dates.filter((date) => date > cut)
  const days = sumByDay(shown, rows)
  const { label, isMonthly } = kindOf(type)
  if (days.every(({ value }) => value === 0)) {
    return (
      <p className="muted">
        {isMonthly
          ? 'Nothing was used in this month.'
          : 'No sizes were recorded in this month. They are recorded every hour.'}
      </p>
    )
  }
  const values = days.map(({ value }) => value)
  const amount = isMonthly ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values)
  return (
    <div className={styles.daily}>
      {cut !== undefined && (
        <p className="muted">
          The days up to {nameOfDay(cut)} are not shown, because too many bots have usage on them.
          The export has all days.
        </p>
      )}
      <DayChart
        label={`${label} by day`}
        days={days}
        format={(value) => formatUsage(type, value)}
        summary={`${isMonthly ? 'Total' : 'Maximum'} ${formatUsage(type, amount)}`}
      />
    </div>
  )
}
