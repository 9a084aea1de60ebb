"""The codes of languages that translation models name themselves by."""

# Pairs: ISO 639-3 codes, as newer Marian models have them, and the shorter ones of the languages that py3langid
# knows. From the code tables of ISO 639.
_CODES = """
afr af amh am arg an ara ar asm as aze az bak ba bel be bul bg ben bn bre br bos bs cat ca ces cs cym cy dan da deu de
dzo dz ell el eng en epo eo spa es est et eus eu fas fa pes fa fin fi fao fo fra fr fry fy gle ga gla gd glg gl guj gu
hau ha heb he hin hi hrv hr hat ht hun hu hye hy ind id ibo ig isl is ita it jpn ja jav jv kat ka kaz kk khm km kan kn
kor ko kur ku kir ky lat la ltz lb lug lg lin ln lao lo lit lt lav lv mlg mg mkd mk mal ml mon mn mar mr msa ms mlt mt
mya my nep ne nld nl nno nn nor no nob no oci oc orm om ori or pan pa pol pl pus ps por pt que qu ron ro rus ru kin rw
san sa sme se sin si slk sk slv sl sna sn som so sqi sq srp sr sot st swe sv swa sw tam ta tel te tgk tg tha th tuk tk
tgl tl tur tr tat tt uig ug ukr uk urd ur uzb uz vie vi vol vo wln wa xho xh yor yo zho zh cmn zh zul zu
"""
_SHORT = dict(zip(_CODES.split()[::2], _CODES.split()[1::2], strict=True))


def language_code(name: str) -> str:
    """A code as py3langid has it: “eng” becomes “en”, “de_DE” “de”. One that is not known stays as it is."""
    base = name.strip().lower().replace("-", "_").split("_")[0]
    return _SHORT.get(base, base)
