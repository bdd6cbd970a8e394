import { isComposing } from '@botstead/contract/composing'
import { Columns2, X } from 'lucide-react'
import { useRef } from 'react'
import { useAddressSearch, useScope } from '../../api/address.js'
import { Button } from '../../ui/button.js'
import { ChooseBot } from '../../ui/choose-bot.js'
import { botstead, curlOf } from '../../ui/commands.js'
import { CopyButton } from '../../ui/copy.js'
import formStyles from '../../ui/form.module.css'
import { Page } from '../../ui/page.js'
import { useShortcuts } from '../../ui/shortcuts.js'
import { Empty } from '../../ui/states.js'
import { Tabs } from '../../ui/tabs.js'
import { useTypedText } from '../../ui/typed-text.js'
import { Controls } from './controls.js'
import { noMarks } from './evaluation/marks.js'
import { SaveCase } from './evaluation/save-case.js'
import { EvaluationSets } from './evaluation/sets.js'
import { FileChoice } from './file-choice.js'
import { type Found, foundOf } from './found.js'
import { inputOf, nameOf, settingNames } from './parameters.js'
import { useExplanation, useFileKey } from './queries.js'
import { Results } from './results.js'
import styles from './search.module.css'

const tabs = [
  { id: 'ask', label: 'Ask' },
  { id: 'sets', label: 'Evaluation sets' },
]

/** The playground, with the results of a question and their explanation, and the evaluation sets. */
export function SearchScreen() {
  const { botId } = useScope()
  const [{ tab = 'ask', q = '', in: onlyIn }] = useAddressSearch()
  // The interface has no search in one file; the explanation of the file has the passages.
  const isCall = tab !== 'sets' && q.trim() !== '' && onlyIn === undefined
  return (
    <Page title="Search" actions={isCall && botId !== undefined && <CopyCall botId={botId} />}>
      {botId !== undefined && <Tabs tabs={tabs} current={tab} />}
      {botId === undefined ? (
        <ChooseBot screen="search" what="Files, and what is found in them," />
      ) : tab === 'sets' ? (
        <EvaluationSets key={botId} />
      ) : (
        <Playground key={botId} />
      )}
    </Page>
  )
}

/** The search of the left column as a call. */
function CopyCall({ botId }: { botId: string }) {
  const { workspaceId } = useScope()
  const [search] = useAddressSearch()
  const { fileId: _, ...query } = inputOf(search, 'left')
  return (
    <CopyButton
      what="the call of this search"
      text={curlOf({ path: '/v1/files/search', query, workspaceId, botId })}
    >
      Copy as curl
    </CopyButton>
  )
}

function Playground() {
  const [search, change] = useAddressSearch()
  const isCompared = search.compare === 'yes'
  const left = useExplanation(inputOf(search, 'left'))
  const right = useExplanation({ ...inputOf(search, 'right'), ...(!isCompared && { query: '' }) })
  const isInFile = search.in !== undefined
  const isAsked = (search.q ?? '').trim() !== ''
  const foundIn = (query: typeof left): readonly Found[] | undefined =>
    isCompared && !isInFile && query.data !== undefined ? foundOf(query.data) : undefined
  return (
    <div className={styles.playground}>
      <div className={styles.panel}>
        <QuestionField />
        {search.in !== undefined && (
          <OnlyIn id={search.in} clear={() => change({ in: undefined })} />
        )}
        <Controls side="left" />
        {isCompared && <Controls side="right" />}
        <Button
          icon={<Columns2 size={14} />}
          aria-pressed={isCompared}
          onClick={() =>
            change(
              isCompared
                ? {
                    compare: undefined,
                    ...Object.fromEntries(
                      settingNames.map((name) => [nameOf('right', name), undefined]),
                    ),
                  }
                : {
                    compare: 'yes',
                    ...Object.fromEntries(
                      settingNames.map((name) => [nameOf('right', name), search[name]]),
                    ),
                  },
            )
          }
        >
          {isCompared ? 'One column' : 'Compare with other settings'}
        </Button>
        <div className={styles.afterwards}>
          {!isInFile && <FileChoice />}
          {isAsked && <SaveCase />}
        </div>
      </div>
      <div className={styles.columns}>
        {isAsked ? (
          <>
            <Results
              label={isCompared ? 'With the settings' : 'Passages'}
              query={left}
              isInFile={isInFile}
              others={foundIn(right)}
            />
            {isCompared && (
              <Results
                label="With the other settings"
                query={right}
                isInFile={isInFile}
                others={foundIn(left)}
              />
            )}
          </>
        ) : (
          <NoQuestion />
        )}
      </div>
    </div>
  )
}

function QuestionField() {
  const [{ q = '', case: caseId }, change] = useAddressSearch()
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useTypedText(q, (typed) =>
    change(
      // Marks are of a question; only that of an open case may be worded differently.
      { ...(caseId === undefined && noMarks), q: typed === '' ? undefined : typed },
      { replace: true },
    ),
  )
  useShortcuts({ '/': { label: 'Ask', run: () => input.current?.focus() } })
  return (
    <search>
      <input
        ref={input}
        type="search"
        className={`${formStyles.input} ${formStyles.main}`}
        aria-label="Question"
        placeholder="What would a person ask?"
        maxLength={2000}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || isComposing(event.nativeEvent)) return
          // Browsers would empty the field.
          event.preventDefault()
          event.currentTarget.blur()
        }}
      />
    </search>
  )
}

/** Says that only one file is searched. */
function OnlyIn({ id, clear }: { id: string; clear: () => void }) {
  const key = useFileKey(id)
  return (
    <div className={styles.chosen}>
      <span>
        Only in <code>{key ?? id}</code>
      </span>
      <Button
        kind="quiet"
        icon={<X size={14} />}
        aria-label="Search in all files"
        onClick={clear}
      />
    </div>
  )
}

function NoQuestion() {
  const { botId = '' } = useScope()
  return (
    <Empty
      calls={[
        {
          name: 'Command',
          text: botstead(['search', 'How does the server stop?', '--explain'], botId),
        },
        {
          name: 'curl',
          text: curlOf({
            path: '/v1/files/search',
            query: { query: 'How does the server stop?' },
            botId,
          }),
        },
        {
          name: 'Client',
          text: `await client.searchFiles({ query: 'How does the server stop?' })`,
        },
      ]}
    >
      Type a question to see which passages of the files of this bot answer it, and why.
    </Empty>
  )
}
