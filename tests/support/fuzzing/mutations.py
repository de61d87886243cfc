"""Stored records, altered at random places: what a damaged or hand-made file might hold."""

import copy

OTHERS = (None, True, -1, 0, 1, 7, 10**30, 2.5, "x", "nan", [], {}, [1, 2], {"is": "Leaf"})


def places(data, path=()):
    """All places of plain data, as paths of keys and indices."""
    yield path
    if not isinstance(data, dict | list):
        return
    for key, item in data.items() if isinstance(data, dict) else enumerate(data):
        yield from places(item, (*path, key))


def altered(data, random):
    """A copy of stored data with one change, and what was changed where."""
    data = copy.deepcopy(data)
    # uniform over the fields rather than the numbers, of which most places consist
    ways = {}
    for path in places(data):
        if path:
            ways.setdefault(tuple(k for k in path if isinstance(k, str)), []).append(path)
    path = random.choice(random.choice(list(ways.values())))
    holder = data
    for key in path[:-1]:
        holder = holder[key]
    key = path[-1]
    way = random.choice(("other", "other", "gone", "twice", "number", "swapped"))
    if way == "gone":
        del holder[key]
    elif way == "twice" and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif way == "number" and isinstance(holder[key], int | float):
        holder[key] = holder[key] + random.choice((-1, 1, 2, 1000, 10**6, 10**12, -0.5))
    elif way == "swapped":
        other = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        holder[key], holder[other] = holder[other], holder[key]
    else:
        way, holder[key] = "other", random.choice(OTHERS)
    return data, (way, path)
