import enum


def compare(mine, golden, args):
    kind = args.shape_type
    same = isinstance(kind, enum.Enum) and kind is type(kind).Tensor and kind == "Tensor"
    return "%s %s %s %s" % (args.get("factor"), args.get("none"), kind.name, same), sorted(args.get_dict())
