import {
  type ColumnDefinitionNode,
  type CreateTableNode,
  DataTypeNode,
  type KyselyPlugin,
  OperationNodeTransformer,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  type QueryId,
  type QueryResult,
  RawNode,
  type RootOperationNode,
  type UnknownRow,
} from 'kysely'
import type { Dialect } from './dialect.js'

/** Replaces the portable column kinds of a migration by the types of one engine. */
class ColumnKinds extends OperationNodeTransformer {
  readonly #types: Dialect['columnTypes']
  readonly #strict: boolean

  constructor(dialect: Dialect) {
    super()
    this.#types = dialect.columnTypes
    this.#strict = dialect.name === 'sqlite'
  }

  protected override transformCreateTable(
    node: CreateTableNode,
    queryId?: QueryId,
  ): CreateTableNode {
    const table = super.transformCreateTable(node, queryId)
    if (!this.#strict) return table
    // Without it SQLite stores any value in any column, which PostgreSQL then refuses.
    return {
      ...table,
      endModifiers: [...(table.endModifiers ?? []), RawNode.createWithSql('strict')],
    }
  }

  protected override transformColumnDefinition(
    node: ColumnDefinitionNode,
    queryId?: QueryId,
  ): ColumnDefinitionNode {
    const column = super.transformColumnDefinition(node, queryId)
    if (!DataTypeNode.is(node.dataType)) return column
    const type = this.#types.get(node.dataType.dataType)
    if (type === undefined) {
      const kinds = [...this.#types.keys()].join(', ')
      throw new Error(`Column type ${node.dataType.dataType} is not portable, use one of ${kinds}`)
    }
    return { ...column, dataType: RawNode.createWithSql(type) }
  }
}

/** Lets migrations name portable kinds: text, integer (64 bit), real (double precision) and blob. */
export function columnKinds(dialect: Dialect): KyselyPlugin {
  const transformer = new ColumnKinds(dialect)
  return {
    transformQuery: ({ node, queryId }: PluginTransformQueryArgs): RootOperationNode =>
      transformer.transformNode(node, queryId),
    transformResult: async ({
      result,
    }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> => result,
  }
}
