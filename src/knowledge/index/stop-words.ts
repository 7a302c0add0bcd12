// Words that are in every request and in every description, and tell none from another.

export const stopWords: ReadonlySet<string> = new Set(
  `a about above after again all also am an and any anyone anything are as at be because been before being below between both
  but by can cannot could did do does doing down during each few for from further get give had has have having he her here
  hers him his how i if in into is it its itself just let like ll m may me might more most my myself need no nor not now of
  off on once only or other our ours out over own please re s same she should so some something such t tell than that the
  their theirs them then there these they this those through to too under until up ve very want was we were what when where
  which while who whom why will with would you your yours`.split(/\s+/),
)
